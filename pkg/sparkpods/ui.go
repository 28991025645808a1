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

package sparkpods

import (
	"context"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator"
	"github.com/spark-apiserver/spark-apiserver/pkg/spark"
)

// UI returns where the driver of an application's current attempt serves its UI. Errors are answers to the user.
//
// The server reaches more of the network than its users do, so that this is only ever the address of a pod and the port
// that the pod was made with. A pod in the network of its node is refused: its address is the node's, and its port could
// be that of anything there.
func (f *Finder) UI(ctx context.Context, app *sparkoperator.SparkApplication) (netip.AddrPort, error) {
	none := netip.AddrPort{}
	pod, err := f.Driver(ctx, app)
	if err != nil {
		return none, err
	}
	switch {
	case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return none, missing(app, "its driver has ended, and its UI with it: %s", stateOf(app))
	case pod.Spec.HostNetwork:
		return none, apierrors.NewForbidden(sparkoperator.Resource("sparkapplications"), app.Name,
			fmt.Errorf("the driver runs in the network of its node (hostNetwork), where its port may be anybody's: its UI can't be reached through the API"))
	case pod.Status.Phase != corev1.PodRunning || pod.Status.PodIP == "":
		return none, apierrors.NewServiceUnavailable(fmt.Sprintf("the driver of sparkapplication %q does not run yet: its pod is %s", app.Name, pod.Status.Phase))
	}
	address, err := netip.ParseAddr(pod.Status.PodIP)
	if err != nil {
		return none, apierrors.NewInternalError(fmt.Errorf("the pod of the driver has the address %q: %w", pod.Status.PodIP, err))
	}
	if err := f.proxyable(address.Unmap(), pod); err != nil {
		return none, apierrors.NewForbidden(sparkoperator.Resource("sparkapplications"), app.Name, err)
	}
	port, ok := uiPort(pod)
	if !ok {
		return none, missing(app, "its driver's container has no port %s", spark.UIPortName)
	}
	return netip.AddrPortFrom(address.Unmap(), port), nil
}

// proxyable refuses addresses that no pod has. Whoever writes the status of a pod must not lead the server to itself, to
// its node or to the metadata service of a cloud.
func (f *Finder) proxyable(address netip.Addr, pod *corev1.Pod) error {
	switch {
	case address.IsLoopback() && f.AllowLoopback:
		return nil
	case address.IsLoopback(), address.IsUnspecified(), address.IsMulticast(), address.IsLinkLocalUnicast():
		return fmt.Errorf("%s is no address of a pod", address)
	}
	for _, host := range pod.Status.HostIPs {
		if node, err := netip.ParseAddr(host.IP); err == nil && node.Unmap() == address {
			return fmt.Errorf("the address of the driver's pod, %s, is that of its node", address)
		}
	}
	if node, err := netip.ParseAddr(pod.Status.HostIP); err == nil && node.Unmap() == address {
		return fmt.Errorf("the address of the driver's pod, %s, is that of its node", address)
	}
	return nil
}

// uiPort returns the port of the UI that the attempt's pod was made with, whatever the specification says by now.
func uiPort(pod *corev1.Pod) (uint16, bool) {
	name := SparkContainer(pod)
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name != name {
			continue
		}
		for _, port := range pod.Spec.Containers[i].Ports {
			if port.Name == spark.UIPortName && port.ContainerPort > 0 && port.ContainerPort <= 65535 {
				return uint16(port.ContainerPort), true
			}
		}
	}
	return 0, false
}
