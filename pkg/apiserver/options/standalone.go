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

package options

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// StandaloneOptions are about a server without a cluster.
type StandaloneOptions struct {
	// Enabled turns off everything that needs a cluster.
	Enabled bool
	// AdminKubeconfig is a file that is written for the developer, who is the only user.
	AdminKubeconfig string
}

func (o *StandaloneOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.Enabled, "standalone", o.Enabled,
		"Serve the API without a Kubernetes cluster, for development: there are no users but the one of --admin-kubeconfig and those with a "+
			"certificate of --client-ca-file in the group system:masters, no admission plugins and no controllers, so that no application runs.")
	fs.StringVar(&o.AdminKubeconfig, "admin-kubeconfig", o.AdminKubeconfig,
		"File that a standalone server writes: who can read it may do everything until the server ends. Default: admin.kubeconfig in --data-dir.")
}

func (o *StandaloneOptions) complete(options *Options) error {
	if !o.Enabled {
		return nil
	}
	if o.AdminKubeconfig == "" {
		o.AdminKubeconfig = filepath.Join(options.Store.DataDir, "admin.kubeconfig")
	}
	options.Store.IdentityConfigMap = ""
	options.Features.EnablePriorityAndFairness = false
	options.Authentication.RemoteKubeConfigFileOptional = true
	options.Authentication.SkipInClusterLookup = true
	options.Authorization.RemoteKubeConfigFileOptional = true
	return nil
}

func (o *StandaloneOptions) validate(options *Options) []error {
	var errs []error
	if !o.Enabled {
		if o.AdminKubeconfig != "" {
			errs = append(errs, errors.New("--admin-kubeconfig needs --standalone: in a cluster, users are the cluster's"))
		}
		return errs
	}
	if options.Cluster.Kubeconfig != "" {
		errs = append(errs, errors.New("--standalone and --kubeconfig exclude each other"))
	}
	if options.LeaderElection.LeaderElect {
		errs = append(errs, errors.New("--standalone and --leader-elect exclude each other: the lease is kept in a cluster"))
	}
	if options.Store.Replaces != "" {
		errs = append(errs, errors.New("--standalone and --replaces-store exclude each other: without a cluster, any store is served"))
	}
	return errs
}

// WriteAdminKubeconfig writes the file by which a developer uses a standalone server.
func (o *StandaloneOptions) WriteAdminKubeconfig(loopback *rest.Config) error {
	const name = "spark-apiserver"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{
		Server:                   loopback.Host,
		TLSServerName:            loopback.ServerName,
		CertificateAuthorityData: loopback.CAData,
	}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: loopback.BearerToken}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	config.CurrentContext = name
	if err := os.MkdirAll(filepath.Dir(o.AdminKubeconfig), 0o700); err != nil {
		return fmt.Errorf("--admin-kubeconfig: %w", err)
	}
	if err := clientcmd.WriteToFile(*config, o.AdminKubeconfig); err != nil { // with mode 0600
		return fmt.Errorf("--admin-kubeconfig: %w", err)
	}
	return nil
}
