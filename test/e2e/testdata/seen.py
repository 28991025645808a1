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

"""Prints what is seen inside the containers of the driver and of an executor, one line of JSON for each."""

import json
import os
import time

from pyspark.sql import SparkSession

FILES = {
    "configMap": "/etc/settings/settings.txt",
    "secret": "/etc/credentials/password",
    "volume": "/shared/from-init",
    "sidecar": "/shared/from-sidecar",
    "downward": "/etc/podinfo/labels",
}
VARIABLES = ["GREETING", "MODE", "PASSWORD", "NODE_NAME"]


def look(_):
    # A sidecar starts at the same time as Spark does.
    for _ in range(600):
        if os.path.exists(FILES["sidecar"]):
            break
        time.sleep(0.1)
    seen = {}
    for what, path in FILES.items():
        try:
            with open(path) as file:
                seen[what] = file.read()
        except OSError as error:
            seen[what] = str(error)
    for name in VARIABLES:
        seen[name] = os.environ.get(name, "not set")
    return json.dumps(seen)


if __name__ == "__main__":
    session = SparkSession.builder.getOrCreate()
    print("SEEN driver", look(None), flush=True)
    for line in session.sparkContext.parallelize(range(1), 1).map(look).collect():
        print("SEEN executor", line, flush=True)
    session.stop()
