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
	_ "embed"
	"net/http"
)

// fakeNodeAnnotation marks the nodes that are simulated. kwok and the simulated kubelet of package sparkdriver touch no
// other node and no pod on one.
const (
	fakeNodeAnnotation      = "kwok.x-k8s.io/node"
	fakeNodeAnnotationValue = "fake"
)

// SimulatedNodeKey is the key of the label, and of the taint, of simulated nodes in a cluster that was not started here;
// the value of both is "fake".
const SimulatedNodeKey = fakeNodeAnnotation

//go:embed kwok-stages.yaml
var kwokStages []byte

func (c *Cluster) kwokProcess() (*Process, error) {
	stages := c.configPath("kwok-stages.yaml")
	if err := writeFiles(map[string][]byte{stages: kwokStages}); err != nil {
		return nil, err
	}
	return c.newProcess(Kwok, healthy(http.DefaultTransport, "http://"+local(c.ports.Kwok)+"/healthz"),
		"--kubeconfig="+c.Kubeconfig(),
		"--config="+stages,
		"--manage-all-nodes=false",
		"--manage-nodes-with-annotation-selector="+fakeNodeAnnotation+"="+fakeNodeAnnotationValue,
		"--node-lease-duration-seconds=40",
		"--server-address="+local(c.ports.Kwok),
	), nil
}
