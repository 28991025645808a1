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
	"fmt"
	"regexp"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Line is a line of Spark releases, such as 4.0, as far as submission depends on it. It is the prefix of the
// application's sparkVersion.
type Line struct {
	// Major and Minor are the line whose rules are followed; never one that this release doesn't know.
	Major, Minor int
	// Version is the version as the user wrote it.
	Version string
	// stated is the version that the user's text names; zero where it can't be read.
	stated release
}

type release struct{ major, minor int }

func (r release) before(major, minor int) bool {
	return r.major < major || r.major == major && r.minor < minor
}

// The oldest and the newest line whose rules are known.
var (
	oldestLine     = release{3, 5}
	newestLine     = release{4, 3}
	versionPattern = regexp.MustCompile(`^v?(\d{1,4})\.(\d{1,4})(?:[.\-+_].*)?$`)
)

// resolveLine reads a version. One that can't be read or is newer than we know gets the newest rules, and one that is
// older than we know the oldest, each with a warning.
func resolveLine(version string, path *field.Path, rep *report) Line {
	line := Line{Major: newestLine.major, Minor: newestLine.minor, Version: version}
	m := versionPattern.FindStringSubmatch(version)
	if m == nil {
		rep.warnf(path, "%q can't be read as a version of Spark; the rules of %s are followed: write it like 4.0.1", version, line)
		return line
	}
	major, _ := strconv.Atoi(m[1]) // four digits at most: no error
	minor, _ := strconv.Atoi(m[2])
	line.stated = release{major, minor}
	switch {
	case line.stated.before(oldestLine.major, oldestLine.minor):
		line.Major, line.Minor = oldestLine.major, oldestLine.minor
		rep.warnf(path, "Spark %d.%d is older than this release knows; the rules of %s are followed: use Spark %s or later", major, minor, line, line)
	case !line.stated.before(newestLine.major, newestLine.minor+1):
		rep.warnf(path, "Spark %d.%d is newer than this release knows; the rules of %s are followed", major, minor, line)
	case major == oldestLine.major:
		line.Major, line.Minor = oldestLine.major, oldestLine.minor // there is no line between 3.5 and 4.0
	default:
		line.Major, line.Minor = major, minor
	}
	return line
}

// String returns the line as "4.0".
func (l Line) String() string { return fmt.Sprintf("%d.%d", l.Major, l.Minor) }

func (l Line) atLeast(major, minor int) bool {
	return !(release{l.Major, l.Minor}).before(major, minor)
}

// SupportsSchedulingGroup says whether the driver's Kubernetes client keeps fields of the executor template that it
// doesn't know, such as spec.schedulingGroup: from Spark 3.3 on (fabric8 5.10). A version that can't be read is taken
// for a new one.
func (l Line) SupportsSchedulingGroup() bool {
	return l.stated == release{} || !l.stated.before(3, 3)
}

// The switches between lines, each with the change of Spark that it comes from.

// substitutesLabels: {{APP_ID}} is replaced in values of labels and not only of annotations.
func (l Line) substitutesLabels() bool { return l.atLeast(4, 0) }

// substitutesImage: {{SPARK_VERSION}} is replaced in the name of the image.
func (l Line) substitutesImage() bool { return l.atLeast(4, 1) }

// readsMinMemoryOverhead: spark.{driver,executor}.minMemoryOverhead take the place of the fixed 384 MiB.
func (l Line) readsMinMemoryOverhead() bool { return l.atLeast(4, 0) }

// claimsReadWriteOncePod: claims made on demand ask for ReadWriteOncePod instead of ReadWriteOnce, unless a property says
// otherwise. Earlier lines know the property too, with the other default (seen in 3.5.9).
func (l Line) claimsReadWriteOncePod() bool { return l.atLeast(4, 0) }

// readsVolumeDetails: subPathExpr, the type of a hostPath, labels and annotations of claims, and a check of sizes.
func (l Line) readsVolumeDetails() bool { return l.atLeast(4, 0) }

// hasConnectPort: container and Service of the driver have a port for Spark Connect (SPARK-52193).
func (l Line) hasConnectPort() bool { return l.atLeast(4, 1) }

// hasConnectProtocol: that port of the Service says that it speaks gRPC (SPARK-56275).
func (l Line) hasConnectProtocol() bool { return l.atLeast(4, 2) }

// overridesExecutorGracePeriod: a property decides on the grace period of executors, over their template.
func (l Line) overridesExecutorGracePeriod() bool { return l.atLeast(4, 1) }

// readsPythonVersion: spark.kubernetes.pyspark.pythonVersion is a property of Spark (Config; it is gone in 4.1.4).
func (l Line) readsPythonVersion() bool { return !l.atLeast(4, 1) }

// setsPrivilegeEscalation: allowPrivilegeEscalation is set, false by default (SPARK-57493).
func (l Line) setsPrivilegeEscalation() bool { return l.atLeast(4, 3) }

// readsPublishNotReadyAddresses: the Service of the driver can be told to publish addresses that aren't ready.
func (l Line) readsPublishNotReadyAddresses() bool { return l.atLeast(4, 3) }

// namesProxyUser: SPARK_USER of the driver is the user whom it impersonates (seen in 4.3.0, and not in 4.2.1).
func (l Line) namesProxyUser() bool { return l.atLeast(4, 3) }
