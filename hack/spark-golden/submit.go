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
	"bufio"
	"bytes"
	"context"
	_ "embed" // the program that runs in Spark's virtual machine
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spark-apiserver/spark-apiserver/hack/spark-golden/golden"
	"github.com/spark-apiserver/spark-apiserver/hack/spark-golden/pyspark"
)

//go:embed Submissions.java
var submissionsProgram []byte

// submitter runs the spark-submit of one line.
type submitter struct {
	pyspark.Installation
	// script runs bin/spark-submit for each case. Else they all run in one virtual machine.
	script bool
	folder string
	data   string
	jvm    *virtualMachine
}

func newSubmitter(in pyspark.Installation, script bool, data string) (*submitter, error) {
	home, err := filepath.Abs(in.Home)
	if err != nil {
		return nil, err
	}
	in.Home = home
	folder, err := os.MkdirTemp("", "spark-golden-")
	if err != nil {
		return nil, err
	}
	s := &submitter{Installation: in, script: script, folder: folder, data: data}
	return s, os.Mkdir(filepath.Join(folder, "conf"), 0o755)
}

func (s *submitter) close() error {
	var err error
	if s.jvm != nil {
		err = s.jvm.stop()
	}
	return errors.Join(err, os.RemoveAll(s.folder))
}

// record runs spark-submit for a case and writes the recording. It returns a short text for the log.
func (s *submitter) record(ctx context.Context, c *golden.Case) (string, error) {
	folder := filepath.Join(s.folder, c.Name)
	if err := os.Mkdir(folder, 0o755); err != nil {
		return "", err
	}
	for name, text := range c.Submit.Files {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "{dir}", folder)), 0o644); err != nil {
			return "", err
		}
	}
	r := &recorder{record: golden.Record{Case: c.Name, Line: s.Line, Version: s.Version}}
	server := httptest.NewServer(r)
	defer server.Close()
	args := append([]string{"--master", "k8s://" + server.URL, "--deploy-mode", "cluster"}, c.CommandLine(folder, s.Version)...)
	run := s.runInOne
	if s.script {
		run = s.runScript
	}
	home := s.folder
	if c.Submit.Home {
		home = folder
	}
	refusal, err := run(ctx, home, args)
	server.Close()
	if err = errors.Join(append(r.errs, err)...); err != nil {
		return "", err
	}
	switch {
	case refusal == "" && len(r.record.Objects) == 0:
		return "", errors.New("spark-submit wrote nothing")
	case refusal != "" && len(r.record.Objects) > 0:
		return "", fmt.Errorf("spark-submit failed in between: %s", refusal)
	}
	r.record.Refusal = refusal
	r.record.Finish()
	// Within properties the colons of the address are escaped.
	return refusal, r.record.Write(s.data, folder, "{dir}", server.URL, "{recorder}",
		strings.ReplaceAll(server.URL, ":", `\\:`), "{recorder}")
}

func (s *submitter) runScript(ctx context.Context, home string, args []string) (string, error) {
	submit := exec.CommandContext(ctx, filepath.Join(s.Home, "bin", "spark-submit"), args...)
	submit.Dir = s.folder
	submit.Env = append(s.environment(), "JAVA_TOOL_OPTIONS="+javaOptions+" -Duser.home="+home)
	var output bytes.Buffer
	submit.Stdout, submit.Stderr = &output, &output
	err := submit.Run()
	if err == nil {
		return "", nil
	}
	if m := refusalPattern.FindStringSubmatch(output.String()); m != nil {
		return strings.TrimSpace(m[1] + m[2]), nil
	}
	return "", fmt.Errorf("spark-submit: %w:\n%s", err, output.String())
}

// runInOne hands the command line to the virtual machine, and starts another after one that ended.
func (s *submitter) runInOne(ctx context.Context, home string, args []string) (string, error) {
	if s.jvm == nil {
		jvm, err := s.startVirtualMachine(ctx)
		if err != nil {
			return "", err
		}
		s.jvm = jvm
	}
	refusal, err := s.jvm.submit(home, args)
	if err != nil {
		err = errors.Join(err, s.jvm.stop())
		s.jvm = nil
	}
	return refusal, err
}

// The options only make short runs of Java shorter, and independent of the locale.
const javaOptions = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dfile.encoding=UTF-8 -Dsun.jnu.encoding=UTF-8"

// environment is that of this process, without what could tell spark-submit anything. The user is whom the driver runs
// for here.
func (s *submitter) environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return strings.HasPrefix(name, "SPARK_") || strings.HasPrefix(name, "HADOOP_") || strings.HasPrefix(name, "PYSPARK_") ||
			strings.HasPrefix(name, "KUBE") || name == "JAVA_TOOL_OPTIONS" || strings.HasPrefix(name, "LC_") || name == "LANG"
	})
	return append(env, "SPARK_HOME="+s.Home, "SPARK_CONF_DIR="+filepath.Join(s.folder, "conf"), "SPARK_USER=spark", "LANG=C.UTF-8", "TZ=UTC",
		"KUBECONFIG="+filepath.Join(s.folder, "no-kubeconfig"))
}

var refusalPattern = regexp.MustCompile(`(?m)^(?:Exception in thread "main" )?(?:[a-zA-Z]+\.)+[A-Z]\w*(?:Exception|Error): (.+)$|^(?:.* ERROR )?(?:SparkSubmit: )?Error: (.+)$`)

// virtualMachine runs one spark-submit after the other.
type virtualMachine struct {
	cmd     *exec.Cmd
	input   io.WriteCloser
	answers *bufio.Reader
	log     *tail
}

func (s *submitter) startVirtualMachine(ctx context.Context) (*virtualMachine, error) {
	program := filepath.Join(s.folder, "Submissions.java")
	if err := os.WriteFile(program, submissionsProgram, 0o644); err != nil {
		return nil, err
	}
	arguments := append(strings.Fields(javaOptions), "-cp", filepath.Join(s.Home, "jars", "*"), program)
	jvm := &virtualMachine{cmd: exec.CommandContext(ctx, "java", arguments...), log: &tail{}}
	jvm.cmd.Dir, jvm.cmd.Env, jvm.cmd.Stderr = s.folder, s.environment(), jvm.log
	input, err := jvm.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := jvm.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	jvm.input, jvm.answers = input, bufio.NewReader(output)
	return jvm, jvm.cmd.Start()
}

func (vm *virtualMachine) submit(home string, args []string) (string, error) {
	words := []string{base64.StdEncoding.EncodeToString([]byte(home))}
	for _, arg := range args {
		words = append(words, base64.StdEncoding.EncodeToString([]byte(arg)))
	}
	if _, err := fmt.Fprintln(vm.input, strings.Join(words, " ")); err != nil {
		return "", fmt.Errorf("%w:\n%s", err, vm.log)
	}
	answer, err := vm.answers.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("no answer of the virtual machine: %w:\n%s", err, vm.log)
	}
	word, message, _ := strings.Cut(strings.TrimSpace(answer), " ")
	if word == "ok" {
		return "", nil
	}
	text, err := base64.StdEncoding.DecodeString(message)
	if err != nil {
		return "", fmt.Errorf("the virtual machine answered %q: %w", answer, err)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return first, nil
}

// stop ends the virtual machine, which leaves when there is nothing more to read.
func (vm *virtualMachine) stop() error {
	_ = vm.input.Close() // it may be gone already
	return vm.cmd.Wait()
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailSize = 8 << 10

// Write keeps the last bytes.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - tailSize; extra > 0 {
		t.text = slices.Delete(t.text, 0, extra)
	}
	return len(p), nil
}

// String returns what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
