/*
Copyright The spark-apiserver Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package sparkdriver

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
)

const (
	// Provisioner is the name of the simulated volume provisioner: claims of a StorageClass that names it get a volume
	// that holds nothing.
	Provisioner = "simulated-volumes.spark-apiserver.io"
	// StorageClassName is the StorageClass that EnsureStorageClass creates.
	StorageClassName = "simulated"
)

// EnsureStorageClass creates a StorageClass, the cluster's default one, whose claims get simulated volumes at once.
func EnsureStorageClass(ctx context.Context, client kubernetes.Interface) error {
	class := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        StorageClassName,
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner:       Provisioner,
		ReclaimPolicy:     new(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode: new(storagev1.VolumeBindingImmediate),
	}
	_, err := client.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// provision makes a volume for a claim that the volume controller has handed to our provisioner. The volume controller
// binds the two.
func (s *simulator) provision(ctx context.Context, object any) {
	claim, ok := object.(*corev1.PersistentVolumeClaim)
	if !ok || claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil ||
		claim.Annotations["volume.kubernetes.io/storage-provisioner"] != Provisioner {
		return
	}
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "simulated-" + string(claim.UID),
			Annotations: map[string]string{"pv.kubernetes.io/provisioned-by": Provisioner},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      claim.Spec.Resources.Requests,
			AccessModes:                   claim.Spec.AccessModes,
			VolumeMode:                    claim.Spec.VolumeMode,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name,
				UID: claim.UID, ResourceVersion: claim.ResourceVersion,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: Provisioner, VolumeHandle: string(claim.UID)},
			},
		},
	}
	if claim.Spec.StorageClassName != nil {
		volume.Spec.StorageClassName = *claim.Spec.StorageClassName
	}
	_, err := s.client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) && ctx.Err() == nil {
		klog.FromContext(ctx).Error(err, "Simulated provisioner can't create a volume", "claim", klog.KObj(claim))
	}
}

// reclaim deletes a volume whose claim is gone.
func (s *simulator) reclaim(ctx context.Context, object any) {
	volume, ok := object.(*corev1.PersistentVolume)
	if !ok || volume.Status.Phase != corev1.VolumeReleased || volume.DeletionTimestamp != nil ||
		volume.Annotations["pv.kubernetes.io/provisioned-by"] != Provisioner {
		return
	}
	err := s.client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
		klog.FromContext(ctx).Error(err, "Simulated provisioner can't delete a volume", "volume", volume.Name)
	}
}
