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

// Reasons for which a property can't be given.
const (
	reasonServiceAccount = "configure the service account via spec.driver.serviceAccount or spec.executor.serviceAccount"
	reasonCredentials    = "Kubernetes credentials are managed by the server: a driver has those of the service account in spec.driver.serviceAccount"
	reasonManaged        = "the value is managed by the server: an application runs in the cluster that it was created in; remove it"
	reasonImage          = "use the image field of the application, the driver or the executor"
)

// deniedConf are the properties that the Kubeflow Spark operator refuses since 2.5, for its reasons: they would hand out
// credentials, or go around a field of the API.
var deniedConf = map[string]string{
	keyDriverServiceAccount:   reasonServiceAccount,
	keyExecutorServiceAccount: reasonServiceAccount,

	"spark.kubernetes.authenticate.oauthToken":              reasonCredentials,
	"spark.kubernetes.authenticate.oauthTokenFile":          reasonCredentials,
	"spark.kubernetes.authenticate.driver.oauthToken":       reasonCredentials,
	"spark.kubernetes.authenticate.driver.oauthTokenFile":   reasonCredentials,
	"spark.kubernetes.authenticate.executor.oauthToken":     reasonCredentials,
	"spark.kubernetes.authenticate.executor.oauthTokenFile": reasonCredentials,

	keyMaster:       reasonManaged,
	keyDriverMaster: reasonManaged,

	keyImage: reasonImage,
	"spark.kubernetes.driver.container.image":   reasonImage,
	"spark.kubernetes.executor.container.image": reasonImage,
}

// DeniedConf says whether a property can't be given in sparkConf, and why.
func DeniedConf(key string) (reason string, denied bool) {
	reason, denied = deniedConf[key]
	return reason, denied
}

// unavailableConf are properties that only a spark-submit on the user's machine can honour. To drop them would run the
// application without something that it was meant to have.
var unavailableConf = map[string]string{
	keyDriverBindAddress:                                  "the driver listens at the address of its pod, which spark-submit doesn't let anyone change either",
	keyDriverFeatureSteps:                                 "driver feature steps are Java classes that run inside of spark-submit, and no JVM runs here: use spec.driver and its template",
	"spark.kubernetes.authenticate.driver.caCertFile":     reasonSubmitterFile,
	"spark.kubernetes.authenticate.driver.clientKeyFile":  reasonSubmitterFile,
	"spark.kubernetes.authenticate.driver.clientCertFile": reasonSubmitterFile,
	keyKrb5Path: "it names a file of the submitter's machine: put it into a ConfigMap and name it in " + keyKrb5ConfigMap,
	"spark.kubernetes.scheduler.volcano.podGroupTemplateFile": "it names a file of the submitter's machine, and is read by a feature step that doesn't run here",
}

const reasonSubmitterFile = "it names a file of the submitter's machine: mount a secret and use the same property below spark.kubernetes.authenticate.driver.mounted"
