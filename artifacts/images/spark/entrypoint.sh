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

# What a container of this image runs. Its first argument says as what:
#
#   driver ARGUMENT...     spark-submit in client mode with the arguments, which are those of the driver's pod
#   executor               an executor, told by the environment what it needs
#   anything else          is a command, and is run as it is
#
# This is the contract between Spark's Kubernetes back end and an image: SparkSubmit writes the arguments of drivers,
# the driver writes the arguments and the SPARK_ variables of executors.

set -o errexit -o nounset -o pipefail

: "${SPARK_HOME:=/opt/spark}"
export SPARK_HOME

# The image's own user has an entry. A pod may ask for any other (runAsUser), and Java finds no user name for a number
# without an entry, which ends Hadoop's login: then one is made up, for this process and its children alone.
name_the_user() {
    local folder library
    if getent passwd "$(id -u)" >/dev/null; then
        return
    fi
    library="$(find /usr/lib -name libnss_wrapper.so -print -quit)"
    if [[ -z "${library}" ]] || ! folder="$(mktemp -d 2>/dev/null)"; then
        echo "entrypoint.sh: user $(id -u) has no entry in /etc/passwd and none can be made; Java may refuse it" >&2
        return
    fi
    { cat /etc/passwd; echo "${SPARK_USER_NAME:-spark-user}:x:$(id -u):$(id -g):Spark:${SPARK_HOME}:/bin/false"; } >"${folder}/passwd"
    { cat /etc/group; getent group "$(id -g)" >/dev/null || echo "spark-user:x:$(id -g):"; } >"${folder}/group"
    export NSS_WRAPPER_PASSWD="${folder}/passwd" NSS_WRAPPER_GROUP="${folder}/group"
    export LD_PRELOAD="${library}${LD_PRELOAD:+:${LD_PRELOAD}}"
}

# Becomes the command, below a first process that reaps and passes signals on. As a child of another first process, which
# is what shareProcessNamespace makes of it, tini takes the children that lose their parent all the same.
run() {
    exec /usr/bin/tini -s -- "$@"
}

run_driver() {
    local options=(--deploy-mode client)
    # Where the driver listens and what executors know it by, set in the pod from its own address.
    if [[ -n "${SPARK_DRIVER_BIND_ADDRESS:-}" ]]; then
        options+=(
            --conf "spark.driver.bindAddress=${SPARK_DRIVER_BIND_ADDRESS}"
            --conf "spark.executorEnv.SPARK_DRIVER_POD_IP=${SPARK_DRIVER_BIND_ADDRESS}"
        )
    fi
    run "${SPARK_HOME}/bin/spark-submit" "${options[@]}" "$@"
}

run_executor() {
    local name java="java" class_path="" part options=()
    # Options come as SPARK_JAVA_OPT_0, _1, ...: one each, whatever is in it, and in this order.
    while read -r name; do
        options+=("${!name}")
    done < <(compgen -v SPARK_JAVA_OPT_ | sort -t _ -k 4 -n)
    if [[ -n "${JAVA_HOME:-}" ]]; then
        java="${JAVA_HOME}/bin/java"
    fi
    # Configuration before jars, as spark-class has it; then what the user adds, then Spark, then the distribution of
    # Hadoop that an image without one would name.
    for part in "${SPARK_CONF_DIR:-}" "${HADOOP_CONF_DIR:-}" "${SPARK_CLASSPATH:-}" "${SPARK_EXTRA_CLASSPATH:-}" \
        "${SPARK_HOME}/jars/*" "${SPARK_DIST_CLASSPATH:-}"; do
        if [[ -n "${part}" ]]; then
            class_path+="${class_path:+:}${part}"
        fi
    done
    run "${java}" "${options[@]}" \
        "-Xms${SPARK_EXECUTOR_MEMORY:?}" \
        "-Xmx${SPARK_EXECUTOR_MEMORY}" \
        -cp "${class_path}" \
        org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend \
        --driver-url "${SPARK_DRIVER_URL:?}" \
        --executor-id "${SPARK_EXECUTOR_ID:?}" \
        --cores "${SPARK_EXECUTOR_CORES:?}" \
        --app-id "${SPARK_APPLICATION_ID:?}" \
        --hostname "${SPARK_EXECUTOR_POD_IP:?}" \
        --resourceProfileId "${SPARK_RESOURCE_PROFILE_ID:?}" \
        --podName "${SPARK_EXECUTOR_POD_NAME:?}"
}

name_the_user
case "${1:-}" in
    driver) run_driver "${@:2}" ;;
    executor) run_executor ;;
    "") echo "entrypoint.sh: say driver, executor or a command" >&2; exit 64 ;;
    *) run "$@" ;;
esac
