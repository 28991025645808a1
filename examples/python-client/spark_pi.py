#!/usr/bin/env python3

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

"""Runs a Spark application from Python: creates it, watches it until it has ended, and deletes it.

Needs the package `kubernetes` of PyPI, and a kubeconfig in $KUBECONFIG or the service account of a pod.

usage: spark_pi.py [--namespace NAMESPACE] [--name NAME]
"""

import argparse
import sys

from kubernetes import client, config, watch

# What every call of CustomObjectsApi needs; the name says custom, and any API group will do.
SPARK_APPLICATIONS = {"group": "sparkoperator.k8s.io", "version": "v1beta2", "plural": "sparkapplications"}


def application(name):
    return {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": {"name": name, "labels": {"example": "python-client"}},
        "spec": {
            "type": "Scala",
            "sparkVersion": "4.0.1",
            "image": "apache/spark:4.0.1",
            "mainClass": "org.apache.spark.examples.SparkPi",
            "mainApplicationFile": "local:///opt/spark/examples/jars/spark-examples.jar",
            "arguments": ["1000"],
            "driver": {"serviceAccount": "spark", "memory": "512m"},
            "executor": {"instances": 2, "memory": "512m"},
        },
    }


def follow(api, namespace, created):
    """Prints the states of an application and returns the last one. A watch ends now and then; it is begun again where it
    has ended."""
    last = None
    version = created["metadata"]["resourceVersion"]
    while True:
        for event in watch.Watch().stream(
            api.list_namespaced_custom_object,
            namespace=namespace,
            field_selector="metadata.name=" + created["metadata"]["name"],
            resource_version=version,
            timeout_seconds=300,
            **SPARK_APPLICATIONS,
        ):
            found = event["object"]
            version = found["metadata"]["resourceVersion"]
            if event["type"] == "DELETED":
                return "DELETED", ""
            # There is no status before the controller has looked at the application.
            state = found.get("status", {}).get("applicationState", {})
            if state.get("state") and state["state"] != last:
                last = state["state"]
                print(last, state.get("errorMessage", ""), flush=True)
            if last in ("COMPLETED", "FAILED"):
                return last, state.get("errorMessage", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--namespace", default="default")
    parser.add_argument("--name", default="python-client-example")
    arguments = parser.parse_args()
    config.load_config()
    api = client.CustomObjectsApi()

    try:
        created = api.create_namespaced_custom_object(
            namespace=arguments.namespace,
            body=application(arguments.name),
            field_validation="Strict",
            **SPARK_APPLICATIONS,
        )
    except client.ApiException as refusal:
        # The body says which field is wrong, what it holds and what would be right.
        sys.exit(f"{refusal.status} {refusal.reason}: {refusal.body}")
    print("created", created["metadata"]["name"], flush=True)

    state, message = follow(api, arguments.namespace, created)
    api.delete_namespaced_custom_object(
        namespace=arguments.namespace, name=arguments.name, propagation_policy="Background", **SPARK_APPLICATIONS
    )
    print("deleted")
    if state != "COMPLETED":
        sys.exit(f"the application has ended as {state}: {message}")


if __name__ == "__main__":
    main()
