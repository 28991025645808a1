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

package sparkapplication

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spark-apiserver/spark-apiserver/pkg/apis/sparkoperator/v1beta2"
)

// restartHashVersion changes whenever the same spec would be hashed differently. A hash of another version says nothing.
const restartHashVersion = "v1"

// restartHash is a hash of the part of the spec from which an attempt is made. What acts in place is left out: suspend
// and the time to live, and restartPolicy, which only says what follows.
func restartHash(spec *v1beta2.SparkApplicationSpec) (string, error) {
	relevant := *spec
	relevant.Suspend = nil
	relevant.TimeToLiveSeconds = nil
	relevant.RestartPolicy = v1beta2.RestartPolicy{}
	encoded, err := json.Marshal(&relevant)
	if err != nil {
		return "", fmt.Errorf("hash the spec: %w", err)
	}
	sum := sha256.Sum256(encoded)
	return restartHashVersion + ":" + hex.EncodeToString(sum[:16]), nil
}

// specEdited says whether the spec is no longer what the current attempt was made from. A hash that is missing, or that
// another release has made in another way, says nothing: what can't be told is no reason to run a job again.
func specEdited(app *v1beta2.SparkApplication) bool {
	return app.Generation != app.Status.ObservedGeneration && hashDiffers(app)
}

// hashDiffers says whether the hash of the current attempt can be compared with that of the spec, and differs.
func hashDiffers(app *v1beta2.SparkApplication) bool {
	if !currentHash(app.Status.RestartHash) {
		return false
	}
	hash, err := restartHash(&app.Spec)
	return err == nil && hash != app.Status.RestartHash
}

// currentHash says whether a hash was made as restartHash makes it.
func currentHash(hash string) bool {
	return strings.HasPrefix(hash, restartHashVersion+":")
}
