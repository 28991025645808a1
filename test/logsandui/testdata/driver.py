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

# A driver with something on every page of its UI: jobs, a cached RDD, SQL, a streaming query, and one job that takes long.
import threading
import time

from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("walked through").getOrCreate()
sc = spark.sparkContext
sc.parallelize(range(100), 2).map(lambda x: x + 1).setName("kept").cache().count()
spark.range(1000).selectExpr("id % 7 AS k").groupBy("k").count().collect()
query = spark.readStream.format("rate").load().writeStream.format("memory").queryName("seconds").start()
while query.lastProgress is None:
    time.sleep(0.1)
query.stop()


def long():
    sc.setJobDescription("takes long")
    try:
        sc.parallelize(range(1), 1).map(lambda x: time.sleep(3600)).collect()
    except Exception:
        print("the long job was killed", flush=True)


thread = threading.Thread(target=long)
thread.start()
print("the UI has everything", flush=True)
thread.join()
while True:
    time.sleep(60)
