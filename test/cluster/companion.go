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

package cluster

import (
	"context"
	"path/filepath"
	"slices"
)

// Companion describes a program that runs beside the control plane, such as a node's.
type Companion struct {
	// Program names it, and its log.
	Program Program
	// Path is the executable.
	Path string
	// Args and Env are its arguments and what is added to the environment, as KEY=VALUE.
	Args, Env []string
	// Ready answers nil as soon as the program serves; nil = at once.
	Ready func(context.Context) error
}

// NewCompanion prepares a program whose log is among the cluster's. Starting and stopping it is the caller's.
func (c *Cluster) NewCompanion(p Companion) *Process {
	return &Process{
		Name: p.Program, LogPath: c.logPath(p.Program), path: p.Path, args: p.Args,
		env: slices.Concat([]string{"HOME=" + c.Dir}, p.Env), detached: c.options.Detached, timeout: c.options.StartTimeout, ready: p.Ready,
	}
}

// CAFile is the authority that signed kube-apiserver's certificate and those of its clients, as a file.
func (c *Cluster) CAFile() string { return c.ca.CertFile }

// AdminKeyPair names the files of the administrator's client certificate in a data directory, also before a cluster was
// started there.
func AdminKeyPair(dataDir string) (certFile, keyFile string) {
	pki := filepath.Join(dataDir, "pki")
	return filepath.Join(pki, "admin.crt"), filepath.Join(pki, "admin.key")
}

// ClusterCAFile names the file of CAFile in a data directory, also before a cluster was started there.
func ClusterCAFile(dataDir string) string { return filepath.Join(dataDir, "pki", "cluster-ca.crt") }

// ServingCertificate issues a certificate for a server of the cluster itself, a kubelet for instance, signed by CAFile's
// authority.
func (c *Cluster) ServingCertificate(name string, hosts ...string) (*KeyPair, error) {
	return c.ca.serving(c.pkiDir(), name, hosts...)
}

// ProcessIdentity tells a process from a later one with the same id. It is empty if there is none.
func ProcessIdentity(pid int) string { return processIdentity(pid) }
