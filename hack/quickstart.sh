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

# The story that README begins with: a gang of four executors meets a cluster with room for three. A real control plane
# is built and started on this machine; its nodes and Spark itself are simulated. Every step is checked: the exit code is
# not zero unless all of them happened.
#
# usage: hack/quickstart.sh up|down
#
#   QUICKSTART_STATE       folder for the cluster's data, logs and list of processes (default .cache/quickstart)
#   QUICKSTART_KUBECONFIG  kubeconfig of a Kubernetes 1.37 cluster of yours, to be used in place of one that is started
#                          here: the server then runs in a pod of that cluster, and only nodes and Spark are simulated
#   QUICKSTART_IMAGE       with it: the server's image, built from artifacts/images/spark-apiserver, where that cluster can
#                          pull it

set -o errexit -o nounset -o pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
cd "${ROOT}"
STATE="${QUICKSTART_STATE:-${ROOT}/.cache/quickstart}"
TOOL="${ROOT}/.cache/tools/spark-test-cluster"
APP=spark-pi-gang
GROUPS_OF_EXECUTORS=podgroups.scheduling.k8s.io
API_SERVICE=v1beta2.sparkoperator.k8s.io

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
fail() { printf '\nFAILED: %s\n' "$*" >&2; exit 1; }

cluster() { "${TOOL}" --state-dir "${STATE}" "$@"; }

# The namespace of the story: "default" in a cluster of our own, one of its own in a cluster of yours.
NAMESPACE=default
[[ -z "${QUICKSTART_KUBECONFIG:-}" ]] || NAMESPACE=spark-quickstart

# show prints a command as a user would type it, and runs it.
show() { printf '\n$ %s\n' "$*"; "$@"; }

# until_true WHAT SECONDS COMMAND...: waits until a command succeeds.
until_true() {
    local what="$1" seconds="$2" deadline
    shift 2
    deadline=$((SECONDS + seconds))
    until "$@" >/dev/null 2>&1; do
        if ((SECONDS >= deadline)); then
            kubectl get sparkapps,pods,"${GROUPS_OF_EXECUTORS}" -o wide || true
            fail "${what} did not happen within ${seconds} s; logs are in ${STATE}/logs, and \"$0 down\" cleans up"
        fi
        sleep 0.5
    done
}

executors_bound() {
    kubectl get pods -l "sparkoperator.k8s.io/app-name=${APP},spark-role=executor" \
        -o jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}' | grep -c . || true
}
executors_created() {
    kubectl get pods -l "sparkoperator.k8s.io/app-name=${APP},spark-role=executor" -o name | grep -c . || true
}
condition_reason() {
    kubectl get sparkapp "${APP}" -o jsonpath="{.status.conditions[?(@.type=='WorkloadSchedulingReady')].reason}"
}
gang_is() { [[ "$(condition_reason)" == "$1" ]]; }
recorded_are() { [[ "$(kubectl get sparkapp "${APP}" -o jsonpath='{.status.workloadScheduling.podGroups[0].boundMembers}')" == "$1" ]]; }
bound_are() { [[ "$(executors_bound)" == "$1" ]]; }
state_is() { [[ "$(kubectl get sparkapp "${APP}" -o jsonpath='{.status.applicationState.state}')" == "$1" ]]; }

build_tool() {
    mkdir -p "$(dirname "${TOOL}")"
    go build -o "${TOOL}" ./test/cluster/cmd/spark-test-cluster
}

own_cluster() {
    say "1. A Kubernetes 1.37 control plane (real), built from its Go modules: minutes when the cache is empty, seconds later"
    # Computing takes three seconds, so that a person sees the executors run.
    cluster up --run-time 3s >/dev/null
    # From here on KUBECONFIG and kubectl are the cluster's own.
    eval "$(cluster env)"
    echo "kube-scheduler runs with the gate GenericWorkload; nodes, kubelets and Spark are SIMULATED."

    say "2. spark-apiserver (real): an APIService, no CRD, no webhook"
    cluster start-server --server-feature-gates SparkApplicationWorkloadAwareScheduling=true
    show kubectl get apiservice "${API_SERVICE}"
    kubectl apply -k artifacts/spark-driver >/dev/null
    MANIFEST=(-f artifacts/examples/spark-pi-gang.yaml)
}

# check_existing_cluster refuses a cluster in which the story can't be told, or in which "down" would remove what "up" did
# not make. Nothing is started or changed before.
check_existing_cluster() {
    local kubectl found
    kubectl="$(cluster build)/kubectl"
    "${kubectl}" --kubeconfig="${QUICKSTART_KUBECONFIG}" get --raw /readyz --request-timeout=20s >/dev/null ||
        fail "the cluster does not answer"
    "${kubectl}" --kubeconfig="${QUICKSTART_KUBECONFIG}" get --raw /apis/scheduling.k8s.io/v1beta1 2>/dev/null | grep -q '"podgroups"' ||
        fail "the cluster does not serve PodGroups of scheduling.k8s.io/v1beta1: docs/scheduling.md names the three settings"
    if "${kubectl}" --kubeconfig="${QUICKSTART_KUBECONFIG}" get crd sparkapplications.sparkoperator.k8s.io >/dev/null 2>&1; then
        fail "the cluster has the Spark operator's CRD, which serves the same group version: use a cluster without it"
    fi
    found="$("${kubectl}" --kubeconfig="${QUICKSTART_KUBECONFIG}" get --ignore-not-found -o name \
        "apiservice/${API_SERVICE}" namespace/spark-system "namespace/${NAMESPACE}" node/node-1 node/node-2)"
    [[ -z "${found}" ]] || fail "the cluster has these already, and they would be removed again at the end: ${found//$'\n'/, }"
}

# server_is_missing shows what usually tells why: no default StorageClass, an image that can't be pulled, a control plane
# that can't reach pods.
server_is_missing() {
    echo
    kubectl -n spark-system get pods,persistentvolumeclaims -o wide || true
    kubectl -n spark-system get events --sort-by=.lastTimestamp | tail -n 10 || true
    kubectl -n spark-system logs deployment/spark-apiserver --tail=10 || true
    kubectl get apiservice "${API_SERVICE}" -o jsonpath='{range .status.conditions[*]}{.type}={.status} {.message}{"\n"}{end}' || true
    fail "the server in the cluster does not serve (docs/operations.md, Health and metrics); \"$0 down\" cleans up"
}

existing_cluster() {
    say "1. Your cluster (real): ${QUICKSTART_KUBECONFIG}"
    [[ -n "${QUICKSTART_IMAGE:-}" ]] || fail "QUICKSTART_IMAGE must name the server's image (docs/operations.md says how to build it)"
    command -v openssl >/dev/null || fail "openssl is needed for the server's certificate"
    check_existing_cluster
    cluster up --run-time 3s --existing "${QUICKSTART_KUBECONFIG}" >/dev/null
    # From here on KUBECONFIG is a copy of yours, and kubectl is the one that was built here.
    eval "$(cluster env)"
    kubectl config set-context --current --namespace="${NAMESPACE}" >/dev/null
    echo "Its control plane is used as it is; the nodes that are added, and Spark on them, are SIMULATED."

    say "2. spark-apiserver (real), in a pod of namespace spark-system: an APIService, no CRD, no webhook"
    hack/serving-cert.sh | sed '/^next:/d'
    mkdir -p "${STATE}/install" "${STATE}/app"
    local up
    up="$(realpath --relative-to="${STATE}/install" "${ROOT}")"
    cat >"${STATE}/install/kustomization.yaml" <<END
resources: [${up}/artifacts/overlays/self-signed]
components: [${up}/artifacts/components/workload-aware-scheduling]
patches:
- target: {kind: Deployment, name: spark-apiserver}
  patch: |
    - {op: replace, path: /spec/template/spec/containers/0/image, value: "${QUICKSTART_IMAGE}"}
END
    kubectl apply -k "${STATE}/install"
    show kubectl -n spark-system rollout status deployment/spark-apiserver --timeout=300s || server_is_missing
    show kubectl wait --for=condition=Available --timeout=120s "apiservice/${API_SERVICE}" || server_is_missing
    kubectl create namespace "${NAMESPACE}" --dry-run=client -o yaml | kubectl apply -f - >/dev/null
    # The example as it is, kept on the simulated nodes.
    cp artifacts/examples/spark-pi-gang.yaml "${STATE}/app/"
    cat >"${STATE}/app/kustomization.yaml" <<END
namespace: ${NAMESPACE}
resources: [spark-pi-gang.yaml, ${up}/artifacts/spark-driver]
patches:
- target: {kind: SparkApplication}
  patch: |
    - {op: add, path: /spec/nodeSelector, value: {kwok.x-k8s.io/node: fake}}
    - {op: add, path: /spec/driver/tolerations, value: [{key: kwok.x-k8s.io/node, operator: Exists}]}
    - {op: add, path: /spec/executor/tolerations, value: [{key: kwok.x-k8s.io/node, operator: Exists}]}
END
    MANIFEST=(-k "${STATE}/app")
}

up() {
    build_tool
    if [[ -n "${QUICKSTART_KUBECONFIG:-}" ]]; then existing_cluster; else own_cluster; fi

    say "3. A node (simulated) with 4 CPU: room for the driver and three of four executors"
    cluster add-node node-1 --cpu 4 --memory 16Gi

    say "4. A gang of four"
    show kubectl apply "${MANIFEST[@]}"
    until_true "the scheduler refusing the gang" 120 gang_is GangUnschedulable
    [[ "$(executors_created)" == 4 ]] || fail "the driver should have created four executors"
    bound_are 0 || fail "an executor has a node although the gang does not fit"
    show kubectl get sparkapps
    show kubectl get workloads.scheduling.k8s.io,"${GROUPS_OF_EXECUTORS}",pods -o wide
    printf '\nWhy: '
    kubectl get sparkapp "${APP}" -o jsonpath="{.status.conditions[?(@.type=='WorkloadSchedulingReady')].message}"
    printf '\nFour executors exist, none has a node: all or nothing.\n'

    say "5. A second node (simulated)"
    cluster add-node node-2 --cpu 4 --memory 16Gi
    until_true "the scheduler placing all four executors" 120 bound_are 4
    until_true "the application saying so" 120 recorded_are 4
    show kubectl get sparkapps
    show kubectl get pods -o wide

    say "6. The application completes"
    show kubectl wait --for=condition=Complete --timeout=120s "sparkapp/${APP}"
    state_is COMPLETED || fail "the application is not COMPLETED"
    show kubectl get sparkapps

    say "7. How an application is scheduled can't be edited afterwards"
    local answer
    printf '\n$ kubectl patch sparkapp %s --type=merge -p %s\n' "${APP}" "'{\"spec\":{\"scheduling\":{\"schedulingPolicy\":{\"gang\":null,\"basic\":{}}}}}'"
    if answer="$(kubectl patch sparkapp "${APP}" --type=merge -p '{"spec":{"scheduling":{"schedulingPolicy":{"gang":null,"basic":{}}}}}' 2>&1)"; then
        fail "the edit of spec.scheduling was accepted"
    fi
    echo "${answer}"
    grep -q 'spec.scheduling' <<<"${answer}" || fail "the refusal does not name spec.scheduling"

    say "Done. Everything is left running; look around with"
    cat <<END

$(cluster env | sed 's/^/  /')
  kubectl get sparkapps
  bin/kubectl-spark render -f artifacts/examples/spark-pi-gang.yaml

and stop it with

  make quickstart-down
END
}

# leave_existing_cluster removes what was put into a cluster of yours. It goes on after an error, so that one thing that
# can't be removed doesn't keep the others.
leave_existing_cluster() {
    local namespace=spark-quickstart left=()
    eval "$(cluster env)"
    kubectl get --raw /readyz --request-timeout=20s >/dev/null || return 1
    # Applications first, while there is a server; then the APIService, so that no namespace waits for an answer of a
    # server that is gone.
    if kubectl get apiservice "${API_SERVICE}" >/dev/null 2>&1; then
        # With no server that answers they go with its store, and what they own goes with the namespace.
        kubectl delete sparkapplications --all --namespace="${namespace}" --timeout=60s || true
        kubectl delete apiservice "${API_SERVICE}" --timeout=60s || left+=("apiservice/${API_SERVICE}")
    fi
    kubectl delete namespace "${namespace}" --ignore-not-found --timeout=120s || left+=("namespace/${namespace}")
    kubectl delete -k "${STATE}/install" --ignore-not-found --timeout=120s || left+=("${STATE}/install")
    cluster remove-node node-1 || left+=(node/node-1)
    cluster remove-node node-2 || left+=(node/node-2)
    ((${#left[@]} == 0)) || { echo "not removed: ${left[*]}" >&2; return 1; }
}

down() {
    local clean=true
    build_tool
    # What "up" has put into a cluster of yours is told by the folder, so that the variables need not be set again.
    if [[ -d "${STATE}/install" ]]; then
        leave_existing_cluster || clean=false
    fi
    cluster down
    "${clean}" || fail "something was left in the cluster: docs/operations.md says how to remove it"
}

case "${1:-}" in
up) up ;;
down) down ;;
*) echo "usage: $0 up|down" >&2; exit 2 ;;
esac
