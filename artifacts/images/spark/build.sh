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

# Makes Spark's image without a registry and without a container runtime: a minimal Debian root with Java and Python in
# one layer, which is the same for every line of Spark, and Spark as PyPI has it in another. The result is an archive as
# `docker save` writes it, for `ctr --namespace k8s.io images import` or `docker load`.
#
# It needs Linux with root or user namespaces, Debian's archive, and Go with pip where Spark isn't in .cache/pyspark yet;
# it installs mmdebstrap where that is missing. The same packages give the same archive, byte by byte. Later runs with
# the same cache need no network.
#
# usage: build.sh --line LINE --tag NAME --output FILE [--cache FOLDER]
#   --line LINE     line of Spark, such as 4.3
#   --tag NAME      the image's name and tag, such as spark-test:4.3
#   --output FILE   the archive to write
#   --cache FOLDER  what is kept between runs (default .cache/spark-image in the repository)

set -o errexit -o nounset -o pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
repository="$(cd "${here}/../../.." && pwd)"
suite=bookworm
# All times within the image.
epoch=1700000000

usage() {
    sed -n '/^# usage:/,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 64
}

line="" tag="" output="" cache="${repository}/.cache/spark-image"
while (($# > 0)); do
    (($# > 1)) || usage
    case "$1" in
        --line) line="$2" ;;
        --tag) tag="$2" ;;
        --output) output="$2" ;;
        --cache) cache="$2" ;;
        *) usage ;;
    esac
    shift 2
done
[[ "${line}" =~ ^[0-9]+\.[0-9]+$ && -n "${tag}" && -n "${output}" ]] || usage
# As image references are written everywhere within an archive: with registry, or docker.io's library, and tag.
[[ "${tag##*/}" == *:* ]] || tag="${tag}:latest"

# Some functions print what they have made, so that nothing else may go to standard output.
say() { echo "spark image ${line}: $* (${SECONDS}s)" >&2; }

mkdir -p "${cache}" "$(dirname "${output}")"
cache="$(cd "${cache}" && pwd)"
work="$(mktemp -d "${TMPDIR:-/tmp}/spark-image-XXXXXX")"
trap 'rm -rf "${work}"' EXIT

# install_mmdebstrap gets the program that makes Debian roots.
install_mmdebstrap() {
    command -v mmdebstrap >/dev/null && return
    local sudo=()
    [[ "$(id -u)" == 0 ]] || sudo=(sudo -n)
    say "installing mmdebstrap"
    "${sudo[@]}" apt-get update -q >&2
    "${sudo[@]}" apt-get install -y -q --no-install-recommends mmdebstrap >&2
}

# debian_layer prints the file of Debian's layer, and makes it on the first call. Its name says what it is made of.
debian_layer() {
    local key layer
    key="$(cat "${here}/packages" "${here}/slim.sh" "${BASH_SOURCE[0]}" | sha256sum | cut -c -16)"
    layer="${cache}/debian-${suite}-${key}.tar"
    if [[ ! -s "${layer}" ]]; then
        install_mmdebstrap
        say "making Debian's layer, a minute or two"
        # Without device files and manual pages; but the folder of the latter must be there, or Java's package does not
        # install. The names of this machine stay out.
        SOURCE_DATE_EPOCH="${epoch}" mmdebstrap --quiet --variant=essential --format=tar --skip=output/dev \
            --include="$(paste -sd, "${here}/packages")" \
            --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Retries "5"' \
            --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
            --essential-hook='mkdir -p "$1/usr/share/man/man1"' \
            --customize-hook="bash '${here}/slim.sh' \"\$1\"" \
            --customize-hook='rm -f "$1/etc/resolv.conf" "$1/etc/hostname"; echo "127.0.0.1 localhost" >"$1/etc/hosts"' \
            "${suite}" "${layer}.partial" >"${work}/mmdebstrap.log" 2>&1 || { cat "${work}/mmdebstrap.log" >&2; return 1; }
        mv "${layer}.partial" "${layer}"
    fi
    echo "${layer}"
}

# spark_layer makes Spark's layer in the given file.
spark_layer() {
    local pyspark
    pyspark="$(cd "${repository}" && go run ./hack/spark-golden install -lines "${line}")"
    mkdir "${work}/root"
    bash "${here}/lay-out.sh" "${pyspark}" "${work}/root"
    tar --create --file "$1" --directory "${work}/root" --format=pax --pax-option=delete=atime,delete=ctime \
        --sort=name --numeric-owner --mtime="@${epoch}" .
}

size() { du --apparent-size --block-size=1M "$1" | cut -f 1; }

# One run at a time fills the cache.
exec 9>"${cache}/lock"
flock --nonblock 9 || { say "waiting for another run"; flock 9; }
debian="$(debian_layer)"
say "Debian's layer: $(size "${debian}") MB"
spark_layer "${work}/spark.tar"
say "Spark's layer: $(size "${work}/spark.tar") MB"
flock --unlock 9

digest() { sha256sum "$1" | cut -d ' ' -f 1; }
debian_digest="$(digest "${debian}")"
spark_digest="$(digest "${work}/spark.tar")"
architecture="$(dpkg --print-architecture)"

mkdir "${work}/archive"
ln -s "${debian}" "${work}/archive/${debian_digest}.tar"
ln -s "${work}/spark.tar" "${work}/archive/${spark_digest}.tar"
created="$(date --utc --date="@${epoch}" +%Y-%m-%dT%H:%M:%SZ)"
cat >"${work}/config.json" <<CONFIG
{
  "created": "${created}",
  "architecture": "${architecture}",
  "os": "linux",
  "config": {
    "User": "185",
    "Env": [
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/spark/bin",
      "SPARK_HOME=/opt/spark",
      "LANG=C.UTF-8"
    ],
    "Entrypoint": ["/opt/entrypoint.sh"],
    "WorkingDir": "/opt/spark/work-dir"
  },
  "rootfs": {"type": "layers", "diff_ids": ["sha256:${debian_digest}", "sha256:${spark_digest}"]},
  "history": [
    {"created": "${created}", "created_by": "Debian ${suite} with $(paste -sd' ' "${here}/packages")"},
    {"created": "${created}", "created_by": "Spark ${line}"}
  ]
}
CONFIG
config_digest="$(digest "${work}/config.json")"
mv "${work}/config.json" "${work}/archive/${config_digest}.json"
cat >"${work}/archive/manifest.json" <<MANIFEST
[{"Config": "${config_digest}.json", "RepoTags": ["${tag}"], "Layers": ["${debian_digest}.tar", "${spark_digest}.tar"]}]
MANIFEST

tar --create --file "${output}.partial" --directory "${work}/archive" --dereference --format=ustar --sort=name \
    --mode=0644 --owner=0 --group=0 --numeric-owner --mtime="@${epoch}" \
    manifest.json "${config_digest}.json" "${debian_digest}.tar" "${spark_digest}.tar"
mv "${output}.partial" "${output}"
say "wrote ${output}: $(size "${output}") MB, ${tag}"
