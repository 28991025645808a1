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

package spark

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	driverPodSuffix     = "-driver"
	driverServiceSuffix = "-driver-svc"
	// maxPrefixName keeps prefix and suffix of the driver's Service within the 63 characters of a label: 35 characters
	// of the application's name, as with Spark's own prefix of 16 random characters.
	maxPrefixName = 35
	// maxExecutorPrefix is Spark's own bound of spark.kubernetes.executor.podNamePrefix.
	maxExecutorPrefix = 237
	// hashLength is the length of a hash within a name, in hex digits.
	hashLength = 16
)

// attemptNames are the names of an attempt's objects. Spark draws them at random; here they follow from the
// application's UID and the submission's id, so that a second try finds what the first has made.
type attemptNames struct {
	prefix    string
	configMap string
	service   string
	appID     string
	localDir  string
}

func namesOf(appName string, uid types.UID, submissionID string) attemptNames {
	hash := shortHash(string(uid), submissionID)
	name := dashed(appName)
	if len(name) > maxPrefixName {
		name = name[:maxPrefixName]
	}
	name = strings.Trim(name, "-")
	if name == "" {
		name = "spark"
	}
	if name[0] >= '0' && name[0] <= '9' {
		name = "x" + name[1:] // a Service's name starts with a letter; Spark replaces the digit too
	}
	prefix := name + "-" + hash
	return attemptNames{
		prefix:    prefix,
		configMap: "spark-drv-" + hash + "-conf-map",
		service:   prefix + driverServiceSuffix,
		appID:     "spark-" + strings.ReplaceAll(submissionID, "-", ""),
		localDir:  "/var/data/spark-" + hash,
	}
}

// checkSubmissionID makes sure that everything which is derived from a submission's id is a legal label.
func checkSubmissionID(id string) error {
	if id == "" {
		return fmt.Errorf("the attempt has no submission id")
	}
	for _, value := range []string{id, namesOf("", "", id).appID} {
		if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
			return fmt.Errorf("submission id %q: %s", id, strings.Join(problems, "; "))
		}
	}
	return nil
}

func shortHash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "/")))
	return hex.EncodeToString(sum[:])[:hashLength]
}

// Truncated cuts a name to a length, and tells what was cut by a hash. The result ends in neither a dash nor a dot before the
// hash.
func Truncated(name string, length int) string {
	if len(name) <= length {
		return name
	}
	const digits = 8
	return strings.TrimRight(name[:length-digits-1], "-.") + "-" + shortHash(name)[:digits]
}

// dashed lower-cases a name and replaces whatever a DNS label can't hold by dashes, never two in a row.
func dashed(name string) string {
	var out strings.Builder
	last := rune(0)
	for _, r := range strings.ToLower(strings.TrimSpace(name)) {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			r = '-'
		}
		if r != '-' || last != '-' {
			out.WriteRune(r)
		}
		last = r
	}
	return out.String()
}

// appNameLabel is KubernetesConf.getAppNameLabel.
func appNameLabel(appName string) string {
	label := dashed(appName)
	if len(label) > validation.LabelValueMaxLength {
		label = label[:validation.LabelValueMaxLength]
	}
	return strings.TrimSuffix(strings.TrimPrefix(label, "-"), "-")
}

// volumeName makes the name of the volume of a ConfigMap or secret. Names that don't fit a label are cut, without dots,
// and told apart by a hash.
func volumeName(object, suffix string) string {
	if name := object + suffix; len(validation.IsDNS1123Label(name)) == 0 {
		return name
	}
	const digits = 8
	sum := sha256.Sum256([]byte(object))
	tail := "-" + hex.EncodeToString(sum[:])[:digits] + suffix
	head := strings.Trim(dashed(object), "-")
	if room := validation.DNS1123LabelMaxLength - len(tail); len(head) > room {
		head = strings.TrimRight(head[:room], "-")
	}
	return strings.TrimLeft(head+tail, "-")
}
