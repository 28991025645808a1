#!/usr/bin/env bash

# Copyright The spark-apiserver Authors.
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

# Makes a certificate authority and a serving certificate for artifacts/overlays/self-signed, and the patch that puts the
# authority into the APIService. A second run keeps the authority and renews the certificate, so that nothing else needs
# to change; remove ca.key and ca.crt to start over.
#
# usage: hack/serving-cert.sh [DAYS]    (validity of the serving certificate, default 365)

set -o errexit
set -o nounset
set -o pipefail
umask 077

days=${1:-365}
cd "$(dirname "${BASH_SOURCE[0]}")/../artifacts/overlays/self-signed"
command -v openssl >/dev/null || { echo "openssl is needed" >&2; exit 1; }

if [[ ! -s ca.key || ! -s ca.crt ]]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 \
    -subj /CN=spark-apiserver-ca -keyout ca.key -out ca.crt \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign 2>/dev/null
  echo "made a new certificate authority: ca.crt (keep ca.key private, or remove it after this run)"
fi

# kube-apiserver connects to the service of an APIService under exactly this name.
name=spark-apiserver.spark-system.svc
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
  -subj "/CN=${name}" -keyout tls.key -out tls.csr 2>/dev/null
openssl x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days "${days}" -out tls.crt -extfile <(
  echo "subjectAltName=DNS:${name}"
  echo "extendedKeyUsage=serverAuth"
  echo "keyUsage=critical,digitalSignature"
) 2>/dev/null
rm -f tls.csr ca.srl
openssl verify -CAfile ca.crt tls.crt >/dev/null

cat >apiservice-ca.yaml <<EOF
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata:
  name: v1beta2.sparkoperator.k8s.io
spec:
  caBundle: $(base64 <ca.crt | tr -d '\n')
EOF
echo "made a serving certificate for ${name}, valid for ${days} days"
echo "next: kubectl apply -k artifacts/overlays/self-signed"
