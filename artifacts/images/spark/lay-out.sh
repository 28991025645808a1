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

# Lays Spark out under a root folder as images have it, from what pip makes of the package pyspark: /opt/spark, the
# scripts that containers run, and the user. Used by the Dockerfile and by build.sh, so that both make the same.
#
# usage: lay-out.sh PYSPARK ROOT    (the folder of the package; the folder to write to, / in a Dockerfile)

set -o errexit -o nounset -o pipefail

source="$1"
root="${2%/}"
here="$(dirname "${BASH_SOURCE[0]}")"
spark="${root}/opt/spark"

mkdir -p "${spark}/python/lib" "${spark}/work-dir"
# Python's side of Spark is in python/lib, packed; the same files unpacked and what runs only on Windows are left out.
cp -r "${source}/bin" "${source}/sbin" "${source}/jars" "${source}/data" "${source}/examples" "${source}/licenses" "${spark}/"
cp "${source}"/python/lib/*.zip "${spark}/python/lib/"
find "${spark}" \( -name '*.cmd' -o -name __pycache__ \) -prune -exec rm -rf {} +
chmod -R u=rwX,go=rX "${root}/opt"
chmod 0755 "${spark}"/bin/* "${spark}"/sbin/*
chmod 0775 "${spark}/work-dir"
chown -R 0:0 "${root}/opt"
chown 185:185 "${spark}/work-dir"
install -m 0755 "${here}/entrypoint.sh" "${here}/decom.sh" "${root}/opt/"
