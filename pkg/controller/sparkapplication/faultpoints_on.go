//go:build faultpoints

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

package sparkapplication

import "github.com/spark-apiserver/spark-apiserver/pkg/controller/faultpoint"

// AtFaultPoints lets a test look at every fault point that this controller comes to, before it runs. An error ends what
// the controller is doing there.
func (c *Controller) AtFaultPoints(look faultpoint.Hook) { c.applier.fault = look }
