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

// Package logsandui shows that a user without any right on pods follows the log of a real driver and walks through its UI, by
// way of the real aggregator, kubectl proxy and the plugin, and gets no further than that.
//
// There is no node: the driver is a process of this machine, at a loopback address that its pod is given.
package logsandui
