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

"""Looks at what the server publishes with tools that nobody wrote for it: discovery with the dynamic client of the package
kubernetes, and OpenAPI 2 and 3 with the package jsonschema, which judges manifests by them.

usage: published.py NAMESPACE FOLDER-OF-MANIFESTS OPENAPI-2 OPENAPI-3
"""

import copy
import glob
import json
import sys

import jsonschema
import yaml
from kubernetes import client, config, dynamic

KINDS = ("SparkApplication", "ScheduledSparkApplication")


def check(document, schemas, prefix, manifests):
    """Checks that the schemas are some, and that they tell right manifests from wrong ones."""
    found = {}
    for name, schema in schemas.items():
        jsonschema.Draft4Validator.check_schema(schema)
        for kind in schema.get("x-kubernetes-group-version-kind", []):
            if kind["group"] == "sparkoperator.k8s.io" and kind["kind"] in KINDS:
                found[kind["kind"]] = name
    assert sorted(found) == sorted(KINDS), found
    judged = 0
    for manifest in manifests:
        if manifest["kind"] not in found:
            continue
        whole = dict(document, **{"$ref": prefix + found[manifest["kind"]]})
        validator = jsonschema.Draft4Validator(whole)
        errors = [f"{'.'.join(map(str, e.absolute_path))}: {e.message}" for e in validator.iter_errors(manifest)]
        assert not errors, (manifest["metadata"]["name"], errors)
        wrong = copy.deepcopy(manifest)
        spec = wrong["spec"].get("template", wrong["spec"])
        spec["executor"]["instances"] = "two"
        assert list(validator.iter_errors(wrong)), "executor.instances is a word, and that is right?"
        judged += 1
    assert judged > 10, judged
    return judged


def main():
    namespace, folder, file2, file3 = sys.argv[1:]
    config.load_config()
    api = client.ApiClient()
    found = dynamic.DynamicClient(api).resources.get(api_version="sparkoperator.k8s.io/v1beta2", kind="SparkApplication")
    names = [item.metadata.name for item in found.get(namespace=namespace).items]
    print("found", *names)

    manifests = []
    for path in sorted(glob.glob(folder + "/*.yaml")):
        with open(path) as text:
            manifests += [document for document in yaml.safe_load_all(text) if document]
    with open(file3) as text:
        three = json.load(text)
    print("OpenAPI 3:", check(three, three["components"]["schemas"], "#/components/schemas/", manifests), "manifests")
    with open(file2) as text:
        two = json.load(text)
    ours = {name: schema for name, schema in two["definitions"].items() if "sparkoperator" in name}
    print("OpenAPI 2:", check(two, ours, "#/definitions/", manifests), "manifests")


if __name__ == "__main__":
    main()
