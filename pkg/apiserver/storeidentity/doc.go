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

// Package storeidentity keeps a server from serving the wrong store.
//
// The garbage collector of the cluster asks for the owner of every driver pod and deletes the pod when the answer is that
// there is no such owner. A store that was lost, because a volume was not mounted for example, answers just that. So a
// store carries an identity, a copy of it is kept in a ConfigMap outside of the store, and unless the two agree requests
// are answered with 503, upon which the garbage collector tries again later.
package storeidentity
