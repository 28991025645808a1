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

# The story of README's beginning with nothing simulated: a gang of four executors meets a node with room for two, then
# runs, in containers, and Spark computes pi. Control plane, node, our server and Spark are real, in namespaces of their own
# on this machine. Every step is checked: the exit code is not zero unless all of them happened.
#
# It needs Linux and root, Go, python3 with pip, Debian's archive, PyPI and the Go module proxy.
#
# usage: hack/quickstart-spark.sh up|down
#
#   QUICKSTART_SPARK_STATE  folder for the cluster's data and logs (default .cache/quickstart-spark)

set -o errexit -o nounset -o pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
cd "${ROOT}"
STATE="${QUICKSTART_SPARK_STATE:-${ROOT}/.cache/quickstart-spark}"
TOOL="${ROOT}/.cache/tools/spark-real-cluster"
APP=spark-pi

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
fail() { printf '\nFAILED: %s\n' "$*" >&2; exit 1; }

# show prints a command as a user would type it, and runs it.
show() { printf '\n$ %s\n' "$*"; "$@"; }

node() { "${TOOL}" --state-dir "${STATE}" "$@"; }
kubectl() { "${STATE}/bin/kubectl" "$@"; }

# until_true WHAT SECONDS COMMAND...: waits until a command succeeds, and no longer than the application lives.
until_true() {
    local what="$1" seconds="$2" deadline
    shift 2
    deadline=$((SECONDS + seconds))
    until "$@" >/dev/null 2>&1; do
        if ((SECONDS >= deadline)) || state_is FAILED; then
            kubectl get sparkapps,pods,podgroups.scheduling.k8s.io -o wide || true
            kubectl get events --sort-by=.lastTimestamp | tail -n 15 || true
            fail "${what} did not happen; logs are in ${STATE}/cluster/logs, and \"$0 down\" cleans up"
        fi
        sleep 0.5
    done
}

executors() { kubectl get pods -l "sparkoperator.k8s.io/app-name=${APP},spark-role=executor" "$@"; }
created_are() { [[ "$(executors -o name | grep -c .)" == "$1" ]]; }
bound_are() { [[ "$(executors -o jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}' | grep -c . || true)" == "$1" ]]; }
condition() { kubectl get sparkapp "${APP}" -o jsonpath="{.status.conditions[?(@.type=='WorkloadSchedulingReady')].$1}"; }
gang_is() { [[ "$(condition reason)" == "$1" ]]; }
recorded_are() { [[ "$(kubectl get sparkapp "${APP}" -o jsonpath='{.status.workloadScheduling.podGroups[0].boundMembers}')" == "$1" ]]; }
state_is() { [[ "$(kubectl get sparkapp "${APP}" -o jsonpath='{.status.applicationState.state}' 2>/dev/null)" == "$1" ]]; }

build_tool() {
    mkdir -p "$(dirname "${TOOL}")"
    go build -o "${TOOL}" ./test/cluster/cmd/spark-real-cluster
}

# free_cpu prints what is left of the node, in thousandths of a core.
free_cpu() {
    kubectl get nodes real-1 -o jsonpath='{.status.allocatable.cpu}{"\n"}' >"${STATE}/cpu"
    kubectl get pods --all-namespaces -o jsonpath='{range .items[*].spec.containers[*]}{.resources.requests.cpu}{"\n"}{end}' |
        sed 's/^/-/' >>"${STATE}/cpu"
    awk '{sign = 1} sub(/^-/, "") {sign = -1} /m$/ {free += sign * $1; next} {free += sign * 1000 * $1} END {print free}' "${STATE}/cpu"
}

# occupy takes all of the node but for what is named, in thousandths of a core.
occupy() {
    kubectl apply -f - >/dev/null <<END
apiVersion: v1
kind: Pod
metadata: {name: neighbour}
spec:
  containers:
  - name: neighbour
    image: localhost/pause:1
    imagePullPolicy: Never
    resources: {requests: {cpu: $(($(free_cpu) - $1))m}}
END
    kubectl wait --for=condition=Ready --timeout=120s pod/neighbour >/dev/null
}

application() {
    cat >"${STATE}/spark-pi.yaml" <<END
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata:
  name: ${APP}
  namespace: default
spec:
  type: Python
  mode: cluster
  sparkVersion: 4.3.0
  image: localhost/spark:4.3
  imagePullPolicy: Never
  mainApplicationFile: local:///opt/spark/examples/src/main/python/pi.py
  arguments: ["40"]
  driver:
    coreRequest: 100m
    memory: 512m
    serviceAccount: spark
  executor:
    instances: 4
    coreRequest: 100m
    memory: 512m
  scheduling:
    schedulingPolicy:
      gang: {}
END
}

up() {
    [[ "$(uname -s)" == Linux && "$(id -u)" == 0 ]] || fail "it needs Linux and root"
    build_tool
    say "1. A Kubernetes 1.37 control plane, a node and spark-apiserver in a pod (all real): minutes when the cache is empty"
    node up
    show kubectl get nodes -o wide
    show kubectl get pods --all-namespaces -o wide
    show kubectl get apiservice v1beta2.sparkoperator.k8s.io

    say "2. A neighbour takes the node, but for a driver and two of four executors"
    occupy 350
    show kubectl get pods

    say "3. A gang of four"
    application
    show kubectl apply -f "${STATE}/spark-pi.yaml"
    until_true "the scheduler refusing the gang" 600 gang_is GangUnschedulable
    created_are 4 || fail "the driver should have created four executors"
    bound_are 0 || fail "an executor has a node although the gang does not fit"
    show kubectl get sparkapps
    show kubectl get workloads.scheduling.k8s.io,podgroups.scheduling.k8s.io,pods -o wide
    printf '\nWhy: %s\nSpark has created four executors, none has a node: all or nothing.\n' "$(condition message)"

    say "4. The neighbour leaves"
    show kubectl delete pod neighbour --grace-period=0
    until_true "the scheduler placing all four executors" 120 bound_are 4
    until_true "the application saying so" 120 recorded_are 4
    show kubectl get sparkapps
    show kubectl get pods -o wide

    say "5. Spark computes"
    until_true "the application completing" 600 state_is COMPLETED
    show kubectl get sparkapps
    printf '\n$ kubectl logs %s-driver | grep Pi\n' "${APP}"
    kubectl logs "${APP}-driver" | grep "Pi is roughly" || fail "Spark has not printed pi"

    say "6. How an application is scheduled can't be edited afterwards"
    local answer patch='{"spec":{"scheduling":{"schedulingPolicy":{"gang":null,"basic":{}}}}}'
    printf "\n$ kubectl patch sparkapp %s --type=merge -p '%s'\n" "${APP}" "${patch}"
    if answer="$(kubectl patch sparkapp "${APP}" --type=merge -p "${patch}" 2>&1)"; then
        fail "the edit of spec.scheduling was accepted"
    fi
    echo "${answer}"
    grep -q 'spec.scheduling' <<<"${answer}" || fail "the refusal does not name spec.scheduling"

    say "Done. Everything is left running; look around with"
    cat <<END

  export PATH="${STATE}/bin:\$PATH"
  kubectl get sparkapps

(that kubectl enters the node's network: $(tail -n 1 "${STATE}/bin/kubectl"))
and stop it with

  make quickstart-down
END
}

case "${1:-}" in
up) up ;;
down)
    [[ ! -e "${STATE}" ]] || { build_tool && node down; }
    ;;
*) echo "usage: $0 up|down" >&2; exit 2 ;;
esac
