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

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/spark-apiserver/spark-apiserver/hack/spark-golden/golden"
)

// recorder stands in for an API server: it keeps what is written and answers with it.
type recorder struct {
	mu     sync.Mutex
	record golden.Record
	errs   []error
}

// ServeHTTP answers creations and applies by what was sent, with the metadata that clients rely on. Nothing exists
// before.
func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if req.Method != http.MethodPost && req.Method != http.MethodPatch {
		writeJSON(w, http.StatusNotFound, map[string]any{
			"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": http.StatusNotFound,
		})
		return
	}
	body, err := io.ReadAll(req.Body)
	var object map[string]any
	if err == nil && json.Unmarshal(body, &object) != nil {
		err = yaml.Unmarshal(body, &object) // the content type of an apply
	}
	if err == nil {
		kind, _ := object["kind"].(string)
		r.record.Requests = append(r.record.Requests, req.Method+" "+kind+query(req))
		err = r.record.Add(copied(object))
	}
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, err))
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	metadata, _ := object["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		object["metadata"] = metadata
	}
	if _, ok := metadata["name"]; !ok {
		metadata["name"] = path.Base(req.URL.Path)
	}
	metadata["namespace"] = golden.Namespace
	metadata["uid"] = "00000000-0000-4000-8000-000000000000"
	metadata["resourceVersion"] = "1"
	metadata["creationTimestamp"] = time.Unix(0, 0).UTC().Format(time.RFC3339)
	writeJSON(w, http.StatusCreated, object)
}

// query is how an apply was asked for; creations have nothing of the kind.
func query(req *http.Request) string {
	if req.URL.RawQuery == "" {
		return ""
	}
	parts := req.URL.Query()
	return " " + strings.Join([]string{"fieldManager=" + parts.Get("fieldManager"), "force=" + parts.Get("force")}, " ")
}

func copied(object map[string]any) map[string]any {
	text, _ := json.Marshal(object) // it came from JSON
	var other map[string]any
	_ = json.Unmarshal(text, &other)
	return other
}

func writeJSON(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object) // a client that went away is seen at its own end
}
