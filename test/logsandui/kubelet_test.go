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

package logsandui

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// kubelet is the part of a node that kube-apiserver asks for logs. It keeps them as they are written, and leaves the options,
// which are a kubelet's own, to be looked at.
type kubelet struct {
	node string

	mu    sync.Mutex
	wake  chan struct{}
	logs  map[string]*log       // by NAMESPACE/POD/CONTAINER
	asked map[string]url.Values // what was asked for last, by the same
}

type log struct {
	text  []byte
	ended bool
}

// startKubelet registers a node of this machine, with which nothing else is done.
func startKubelet(t *testing.T, kube kubernetes.Interface, node string) *kubelet {
	t.Helper()
	k := &kubelet{node: node, wake: make(chan struct{}), logs: map[string]*log{}, asked: map[string]url.Values{}}
	listener, err := tls.Listen("tcp4", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}, MinVersion: tls.VersionTLS12})
	require.NoError(t, err)
	server := &http.Server{Handler: k, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	address := listener.Addr().(*net.TCPAddr)
	_, err = kube.CoreV1().Nodes().Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: node},
		Spec:       corev1.NodeSpec{Unschedulable: true},
		Status: corev1.NodeStatus{
			Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address.IP.String()}},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(address.Port)}}, //nolint:gosec // a port
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	return k
}

func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubelet"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{certificate}, PrivateKey: key}
}

// writer is the standard output of a container.
type writer struct {
	k    *kubelet
	name string
}

// container returns what a container writes its log to.
func (k *kubelet) container(namespace, pod, container string) *writer {
	w := &writer{k: k, name: strings.Join([]string{namespace, pod, container}, "/")}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.logs[w.name] = &log{}
	return w
}

func (w *writer) Write(p []byte) (int, error) {
	w.k.change(func() { w.k.logs[w.name].text = append(w.k.logs[w.name].text, p...) })
	return len(p), nil
}

// end says that the container has ended.
func (w *writer) end() {
	w.k.change(func() { w.k.logs[w.name].ended = true })
}

// String is what was written.
func (w *writer) String() string {
	w.k.mu.Lock()
	defer w.k.mu.Unlock()
	return string(w.k.logs[w.name].text)
}

func (k *kubelet) change(what func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	what()
	close(k.wake)
	k.wake = make(chan struct{})
}

// askedFor returns the options with which a container's log was asked for last.
func (k *kubelet) askedFor(w *writer) url.Values {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.asked[w.name]
}

// ServeHTTP is the kubelet's /containerLogs/NAMESPACE/POD/CONTAINER.
func (k *kubelet) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	name, ok := strings.CutPrefix(req.URL.Path, "/containerLogs/")
	k.mu.Lock()
	found := k.logs[name]
	k.asked[name] = req.URL.Query()
	k.mu.Unlock()
	if !ok || found == nil {
		http.Error(w, fmt.Sprintf("container %q not found", name), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	follow := req.URL.Query().Get("follow") == "true"
	for sent := 0; ; {
		k.mu.Lock()
		text, ended, wake := found.text[sent:], found.ended, k.wake
		k.mu.Unlock()
		if _, err := w.Write(text); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		sent += len(text)
		if !follow || ended {
			return
		}
		select {
		case <-wake:
		case <-req.Context().Done():
			return
		}
	}
}
