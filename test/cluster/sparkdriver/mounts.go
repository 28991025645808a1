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
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// tokenDir is where kubelets put the service account's token, and where Spark's client looks for it.
const tokenDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// readFile returns a file as a container of the pod sees it, through its mounts of ConfigMaps, Secrets and projections.
func readFile(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, container *corev1.Container, file string) (string, error) {
	mount := mountOf(container, file)
	if mount == nil {
		return "", fmt.Errorf("%s: the container mounts nothing there, and a simulated image holds no files", file)
	}
	inside := strings.TrimPrefix(strings.TrimPrefix(path.Clean(file), path.Clean(mount.MountPath)), "/")
	if mount.SubPath != "" {
		inside = path.Join(mount.SubPath, inside)
	}
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].Name == mount.Name {
			content, found, err := readVolume(ctx, client, pod.Namespace, &pod.Spec.Volumes[i].VolumeSource, inside)
			if err != nil {
				return "", fmt.Errorf("%s: %w", file, err)
			}
			if !found {
				return "", fmt.Errorf("%s: volume %s has no file %q", file, mount.Name, inside)
			}
			return content, nil
		}
	}
	return "", fmt.Errorf("%s: the pod has no volume %s", file, mount.Name)
}

// mountOf finds the innermost mount that covers a path.
func mountOf(container *corev1.Container, file string) *corev1.VolumeMount {
	var best *corev1.VolumeMount
	for i := range container.VolumeMounts {
		m := &container.VolumeMounts[i]
		at := path.Clean(m.MountPath)
		if path.Clean(file) != at && !strings.HasPrefix(path.Clean(file), strings.TrimSuffix(at, "/")+"/") {
			continue
		}
		if best == nil || len(at) > len(path.Clean(best.MountPath)) {
			best = m
		}
	}
	return best
}

func readVolume(ctx context.Context, client kubernetes.Interface, namespace string, source *corev1.VolumeSource, file string) (string, bool, error) {
	switch {
	case source.ConfigMap != nil:
		return readConfigMap(ctx, client, namespace, source.ConfigMap.Name, source.ConfigMap.Items, file)
	case source.Secret != nil:
		return readSecret(ctx, client, namespace, source.Secret.SecretName, source.Secret.Items, file)
	case source.Projected != nil:
		for _, p := range source.Projected.Sources {
			var content string
			var found bool
			var err error
			switch {
			case p.ConfigMap != nil:
				content, found, err = readConfigMap(ctx, client, namespace, p.ConfigMap.Name, p.ConfigMap.Items, file)
			case p.Secret != nil:
				content, found, err = readSecret(ctx, client, namespace, p.Secret.Name, p.Secret.Items, file)
			}
			if err != nil || found {
				return content, found, err
			}
		}
		return "", false, nil
	default:
		return "", false, fmt.Errorf("a simulated kubelet can only read ConfigMaps and Secrets")
	}
}

func readConfigMap(ctx context.Context, client kubernetes.Interface, namespace, name string, items []corev1.KeyToPath, file string) (string, bool, error) {
	configMap, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", false, err
	}
	key := keyAt(items, file)
	if content, ok := configMap.Data[key]; ok {
		return content, true, nil
	}
	content, ok := configMap.BinaryData[key]
	return string(content), ok, nil
}

func readSecret(ctx context.Context, client kubernetes.Interface, namespace, name string, items []corev1.KeyToPath, file string) (string, bool, error) {
	secret, err := client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", false, err
	}
	content, ok := secret.Data[keyAt(items, file)]
	return string(content), ok, nil
}

// keyAt returns the key whose content is projected to a path; without items every key is, under its own name.
func keyAt(items []corev1.KeyToPath, file string) string {
	if len(items) == 0 {
		return file
	}
	for _, item := range items {
		if path.Clean(item.Path) == file {
			return item.Key
		}
	}
	return ""
}

// mountsToken says whether the container finds a service account token where Spark's client looks for it.
func mountsToken(container *corev1.Container) bool {
	m := mountOf(container, tokenDir+"/token")
	return m != nil && path.Clean(m.MountPath) == tokenDir
}
