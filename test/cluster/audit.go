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
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

//go:embed audit-policy.yaml
var auditPolicy []byte

// everyRequest is the audit policy of a server of ours that is audited.
const everyRequest = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n"

// OwnRequests returns those requests of an audited server that keep wants: to kube-apiserver, and to itself over loopback.
func (c *Cluster) OwnRequests(s *SparkServer, keep func(*auditv1.Event) bool) ([]auditv1.Event, error) {
	by := func(user string) func(*auditv1.Event) bool {
		return func(e *auditv1.Event) bool { return e.User.Username == user && keep(e) }
	}
	there, err := c.AuditEvents(by(ServerIdentity))
	if err != nil {
		return nil, err
	}
	here, err := ReadAuditLog(s.auditLog, by("system:apiserver"))
	return slices.Concat(there, here), err
}

// IsDryRun says whether a request was to change nothing.
func IsDryRun(e *auditv1.Event) bool { return strings.Contains(e.RequestURI, "dryRun") }

// IsWrite says whether a request about an object was to change something. Events, which tell of changes, are left out.
func IsWrite(e *auditv1.Event) bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb) && !IsDryRun(e) &&
		e.ObjectRef.Resource != "events"
}

func (c *Cluster) auditLogPath() string { return filepath.Join(c.Dir, "logs", "audit.log") }

// AuditEvents returns the requests to kube-apiserver that were recorded and that keep wants, in the order in which they
// were answered. Recorded are all writes, all requests to scheduling.k8s.io, all requests of service accounts in namespace
// spark-system, and what the garbage collector asks of sparkoperator.k8s.io; see audit-policy.yaml. Requests that kube-apiserver proxied to our server are among them.
func (c *Cluster) AuditEvents(keep func(*auditv1.Event) bool) ([]auditv1.Event, error) {
	return ReadAuditLog(c.auditLogPath(), keep)
}

// ReadAuditLog returns those requests of an audit log in JSON lines that keep wants (nil = all).
func ReadAuditLog(path string, keep func(*auditv1.Event) bool) ([]auditv1.Event, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var events []auditv1.Event
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			// A last line without an end is still being written.
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		if keep == nil || keep(&event) {
			events = append(events, event)
		}
	}
}
