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
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// obstacle is why a kubelet can't start a pod yet.
type obstacle struct {
	reason  string // of the waiting containers
	event   string // reason of the event
	message string
}

// references checks what a pod needs from other objects.
type references struct {
	client    kubernetes.Interface
	namespace string
	// seen holds the keys of objects that were read for this pod; nil for one that doesn't exist.
	configMaps, secrets map[string]map[string]bool
}

// findObstacle returns what keeps a kubelet from starting the pod, nil if nothing does.
func findObstacle(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) (*obstacle, error) {
	r := &references{client: client, namespace: pod.Namespace, configMaps: map[string]map[string]bool{}, secrets: map[string]map[string]bool{}}
	for i := range pod.Spec.Volumes {
		missing, err := r.volume(ctx, &pod.Spec.Volumes[i])
		if err != nil {
			return nil, err
		}
		if missing != "" {
			return &obstacle{"ContainerCreating", "FailedMount", fmt.Sprintf("MountVolume.SetUp failed for volume %q : %s", pod.Spec.Volumes[i].Name, missing)}, nil
		}
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			missing, err := r.environment(ctx, &containers[i])
			if err != nil {
				return nil, err
			}
			if missing != "" {
				return &obstacle{"CreateContainerConfigError", "Failed", "Error: " + missing}, nil
			}
		}
	}
	return nil, nil
}

func (r *references) volume(ctx context.Context, v *corev1.Volume) (string, error) {
	switch {
	case v.ConfigMap != nil:
		return r.projection(ctx, "configmap", v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional)
	case v.Secret != nil:
		return r.projection(ctx, "secret", v.Secret.SecretName, v.Secret.Items, v.Secret.Optional)
	case v.PersistentVolumeClaim != nil:
		name := v.PersistentVolumeClaim.ClaimName
		claim, err := r.client.CoreV1().PersistentVolumeClaims(r.namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return fmt.Sprintf("persistentvolumeclaim %q not found", name), nil
		case err != nil:
			return "", err
		case claim.Status.Phase != corev1.ClaimBound:
			return fmt.Sprintf("persistentvolumeclaim %q is not bound", name), nil
		}
	case v.Projected != nil:
		for _, p := range v.Projected.Sources {
			var missing string
			var err error
			switch {
			case p.ConfigMap != nil:
				missing, err = r.projection(ctx, "configmap", p.ConfigMap.Name, p.ConfigMap.Items, p.ConfigMap.Optional)
			case p.Secret != nil:
				missing, err = r.projection(ctx, "secret", p.Secret.Name, p.Secret.Items, p.Secret.Optional)
			}
			if missing != "" || err != nil {
				return missing, err
			}
		}
	}
	return "", nil
}

func (r *references) projection(ctx context.Context, kind, name string, items []corev1.KeyToPath, optional *bool) (string, error) {
	if optional != nil && *optional {
		return "", nil
	}
	keys, err := r.keys(ctx, kind, name)
	if err != nil {
		return "", err
	}
	if keys == nil {
		return fmt.Sprintf("%s %q not found", kind, name), nil
	}
	for _, item := range items {
		if !keys[item.Key] {
			return fmt.Sprintf("%s references non-existent %s key: %s", kind, kind, item.Key), nil
		}
	}
	return "", nil
}

func (r *references) environment(ctx context.Context, c *corev1.Container) (string, error) {
	for _, e := range c.EnvFrom {
		var missing string
		var err error
		switch {
		case e.ConfigMapRef != nil:
			missing, err = r.projection(ctx, "configmap", e.ConfigMapRef.Name, nil, e.ConfigMapRef.Optional)
		case e.SecretRef != nil:
			missing, err = r.projection(ctx, "secret", e.SecretRef.Name, nil, e.SecretRef.Optional)
		}
		if missing != "" || err != nil {
			return missing, err
		}
	}
	for _, e := range c.Env {
		if e.ValueFrom == nil {
			continue
		}
		var missing string
		var err error
		switch {
		case e.ValueFrom.ConfigMapKeyRef != nil:
			ref := e.ValueFrom.ConfigMapKeyRef
			missing, err = r.projection(ctx, "configmap", ref.Name, []corev1.KeyToPath{{Key: ref.Key}}, ref.Optional)
		case e.ValueFrom.SecretKeyRef != nil:
			ref := e.ValueFrom.SecretKeyRef
			missing, err = r.projection(ctx, "secret", ref.Name, []corev1.KeyToPath{{Key: ref.Key}}, ref.Optional)
		}
		if missing != "" || err != nil {
			return missing, err
		}
	}
	return "", nil
}

// keys returns the keys of a ConfigMap or Secret, nil if it doesn't exist.
func (r *references) keys(ctx context.Context, kind, name string) (map[string]bool, error) {
	cache := r.configMaps
	if kind == "secret" {
		cache = r.secrets
	}
	if keys, ok := cache[name]; ok {
		return keys, nil
	}
	keys := map[string]bool{}
	var err error
	if kind == "secret" {
		var secret *corev1.Secret
		if secret, err = r.client.CoreV1().Secrets(r.namespace).Get(ctx, name, metav1.GetOptions{}); err == nil {
			for k := range secret.Data {
				keys[k] = true
			}
		}
	} else {
		var configMap *corev1.ConfigMap
		if configMap, err = r.client.CoreV1().ConfigMaps(r.namespace).Get(ctx, name, metav1.GetOptions{}); err == nil {
			for k := range configMap.Data {
				keys[k] = true
			}
			for k := range configMap.BinaryData {
				keys[k] = true
			}
		}
	}
	if apierrors.IsNotFound(err) {
		keys, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	cache[name] = keys
	return keys, nil
}
