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

// Package pyspark has the Spark of each line on this machine, from PyPI.
package pyspark

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Installation is the Spark of one line, as PyPI serves it.
type Installation struct {
	// Line is the line, such as 4.0, and Version the release of it, such as 4.0.1.
	Line, Version string
	// Home is SPARK_HOME: the folder that pip makes of the package, with bin and jars.
	Home string
}

// Install returns the Spark of a line from the cache folder, which it fills on the first call with what pip resolves:
// the newest patch. Nothing is built and nothing is installed outside of the folder. Another process that fills it at
// the same time is waited for.
//
// Filling the folder needs python3 with pip.
func Install(ctx context.Context, cache, line string) (Installation, error) {
	folder := filepath.Join(cache, line)
	in := Installation{Line: line, Home: filepath.Join(folder, "pyspark")}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return in, err
	}
	unlock, err := lock(filepath.Join(folder, "lock"))
	if err != nil {
		return in, err
	}
	defer unlock()
	versionFile := filepath.Join(folder, "version")
	if version, err := os.ReadFile(versionFile); err == nil {
		in.Version = strings.TrimSpace(string(version))
		return in, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return in, err
	}
	archive, err := download(ctx, filepath.Join(folder, "download"), line)
	if err != nil {
		return in, err
	}
	name := filepath.Base(archive)
	in.Version = strings.TrimSuffix(strings.TrimPrefix(name, "pyspark-"), ".tar.gz")
	if err := os.RemoveAll(in.Home); err != nil {
		return in, err
	}
	if err := unpack(archive, in.Home); err != nil {
		return in, fmt.Errorf("unpacking %s: %w", name, err)
	}
	if err := os.RemoveAll(filepath.Dir(archive)); err != nil {
		return in, err
	}
	// Written last: without it the folder counts as unfinished.
	return in, os.WriteFile(versionFile, []byte(in.Version+"\n"), 0o644)
}

// lock holds a file for this process alone until the returned function is called, or the process ends.
func lock(name string) (unlock func(), err error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { _ = file.Close() }, nil // which unlocks it
}

// download lets pip fetch the newest source archive of a line, unless it is there.
func download(ctx context.Context, folder, line string) (string, error) {
	pattern := filepath.Join(folder, "pyspark-"+line+".*.tar.gz")
	for try := 0; ; try++ {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		switch {
		case len(found) > 0:
			return found[len(found)-1], nil
		case try > 0:
			return "", fmt.Errorf("pip left no archive that matches %s", pattern)
		}
		pip := exec.CommandContext(ctx, "python3", "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir",
			"--disable-pip-version-check", "--no-binary", "pyspark", "--dest", folder, "pyspark=="+line+".*")
		pip.Stdout, pip.Stderr = os.Stderr, os.Stderr
		if err := pip.Run(); err != nil {
			return "", fmt.Errorf("pip download of pyspark %s: %w", line, err)
		}
	}
}

// unpack lays a source archive out as an installed package is: what it keeps under deps and lib belongs to the package.
func unpack(archive, home string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	entries := tar.NewReader(plain)
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_, inside, _ := strings.Cut(entry.Name, "/")
		top, rest, _ := strings.Cut(inside, "/")
		if entry.Typeflag != tar.TypeReg || rest == "" {
			continue
		}
		switch top {
		case "pyspark":
		case "deps":
			rest = strings.Replace(rest, "examples/", "examples/src/main/python/", 1)
		case "lib":
			rest = filepath.Join("python", "lib", rest)
		default:
			continue
		}
		if !filepath.IsLocal(rest) {
			return fmt.Errorf("%q leads out of the archive", entry.Name)
		}
		if err := writeFile(filepath.Join(home, rest), entries, entry.FileInfo().Mode().Perm()); err != nil {
			return err
		}
	}
}

func writeFile(name string, content io.Reader, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if filepath.Base(filepath.Dir(name)) == "bin" {
		mode |= 0o111 // pip makes scripts executable when it installs them
	}
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	return errors.Join(err, out.Close())
}
