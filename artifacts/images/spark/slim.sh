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

# Makes the user that Spark runs as and removes from a Debian root what no container reads. Licences stay.
#
# usage: slim.sh ROOT    (/ in a Dockerfile)

set -o errexit -o nounset -o pipefail

root="${1%/}"
grep -q '^spark:' "${root}/etc/passwd" || {
    echo 'spark:x:185:185:Spark:/nonexistent:/bin/false' >>"${root}/etc/passwd"
    echo 'spark:x:185:' >>"${root}/etc/group"
}
find "${root}/usr/share/doc" -type f ! -name copyright -delete
find "${root}/usr/share/doc" -type d -empty -delete
find "${root}/usr/share/man" ! -type d -delete # the folders stay, since packages that are added later look for them
rm -rf "${root}"/usr/share/{info,locale,lintian,bash-completion,bug} \
    "${root}"/usr/share/{fonts,sounds,icons,pixmaps,applications,X11} \
    "${root}"/var/lib/apt/lists/* "${root}"/var/cache/{apt,debconf,fontconfig,ldconfig,man}/* "${root}"/var/log/* \
    "${root}"/var/lib/dpkg/*-old "${root}"/tmp/*
# What libnss-wrapper brings for a script of it that is not used here. Debian's small Perl stays.
rm -rf "${root}"/usr/lib/*/{perl,libperl.so*} "${root}/usr/share/perl"
# Modules of the standard library that are about windows, tests and packaging.
rm -rf "${root}"/usr/lib/python3*/{test,tkinter,idlelib,lib2to3,ensurepip,turtledemo,pydoc_data}
