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

package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// document is one YAML document or one JSON value of a file.
type document struct {
	source string
	// number counts the documents of the source from 1.
	number int
	data   []byte
	json   bool
}

// String names the document for messages.
func (d document) String() string {
	if d.number == 1 {
		return d.source
	}
	return fmt.Sprintf("%s, document %d", d.source, d.number)
}

// documents yields the documents of files, of the files in folders, and of standard input for "-". An error concerns one
// file; what follows is still yielded.
func documents(filenames []string, recursive bool, stdin io.Reader) iter.Seq2[document, error] {
	return func(yield func(document, error) bool) {
		for _, name := range filenames {
			files, err := expand(name, recursive)
			if err != nil {
				if !yield(document{}, err) {
					return
				}
				continue
			}
			for _, file := range files {
				for document, err := range documentsOf(file, stdin) {
					if !yield(document, err) {
						return
					}
				}
			}
		}
	}
}

// expand returns the manifests of a folder in order of their names, and anything else as it is.
func expand(name string, recursive bool) ([]string, error) {
	if name == "-" {
		return []string{name}, nil
	}
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		return nil, fmt.Errorf("%s: render works offline; fetch the file and pass it with -f -", name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	var files []string
	err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != name && !recursive:
			return filepath.SkipDir
		case !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			files = append(files, path)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: no .yaml, .yml or .json file in this folder", name)
	}
	return files, err
}

func documentsOf(file string, stdin io.Reader) iter.Seq2[document, error] {
	return func(yield func(document, error) bool) {
		source, input := "standard input", stdin
		if file != "-" {
			f, err := os.Open(file)
			if err != nil {
				yield(document{}, err)
				return
			}
			defer f.Close()
			source, input = file, f
		}
		reader := bufio.NewReader(input)
		isJSON, err := startsWithBrace(reader)
		if err != nil {
			yield(document{}, fmt.Errorf("%s: %w", source, err))
			return
		}
		next := yamlDocuments(reader)
		if isJSON {
			next = jsonDocuments(reader)
		}
		for number := 1; ; {
			data, err := next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(document{}, fmt.Errorf("%s, document %d: %w", source, number, err))
				return
			}
			// A document of nothing but comments is none.
			if !isJSON && blank(data) {
				continue
			}
			if !yield(document{source: source, number: number, data: data, json: isJSON}, nil) {
				return
			}
			number++
		}
	}
}

// startsWithBrace tells JSON from YAML by the first character that is no space. One document of YAML may be written as
// JSON, but a stream of JSON values has no separators.
func startsWithBrace(reader *bufio.Reader) (bool, error) {
	for {
		r, _, err := reader.ReadRune()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if unicode.IsSpace(r) || r == '\uFEFF' {
			continue
		}
		return r == '{', reader.UnreadRune()
	}
}

func yamlDocuments(reader *bufio.Reader) func() ([]byte, error) {
	return utilyaml.NewYAMLReader(reader).Read
}

func jsonDocuments(reader *bufio.Reader) func() ([]byte, error) {
	decoder := json.NewDecoder(reader)
	return func() ([]byte, error) {
		var value json.RawMessage
		err := decoder.Decode(&value)
		return value, err
	}
}

func blank(data []byte) bool {
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("---")) {
			return false
		}
	}
	return true
}
