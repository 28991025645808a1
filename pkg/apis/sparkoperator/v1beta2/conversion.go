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

package v1beta2

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/conversion"
)

// Convert_url_Values_To_v1beta2_SparkApplicationLogOptions reads query parameters. What is generated for it accepts any
// word for a boolean and doesn't say which parameter a number that is none belongs to; so both are looked at before.
func Convert_url_Values_To_v1beta2_SparkApplicationLogOptions(in *url.Values, out *SparkApplicationLogOptions, s conversion.Scope) error {
	for _, name := range []string{"executor", "sinceSeconds", "tailLines", "limitBytes"} {
		if value := in.Get(name); value != "" {
			if _, err := strconv.ParseInt(value, 10, 64); err != nil {
				return fmt.Errorf("%s: %q is no whole number", name, value)
			}
		}
	}
	for _, name := range []string{"follow", "previous", "timestamps"} {
		if value := in.Get(name); value != "" {
			if !slices.Contains([]string{"true", "false", "1", "0"}, value) {
				return fmt.Errorf("%s: %q is neither true nor false", name, value)
			}
		}
	}
	if value := in.Get("sinceTime"); value != "" {
		if _, err := time.Parse(time.RFC3339, value); err != nil {
			return fmt.Errorf("sinceTime: %q is no time as 2006-01-02T15:04:05Z (RFC 3339)", value)
		}
	}
	return autoConvert_url_Values_To_v1beta2_SparkApplicationLogOptions(in, out, s)
}
