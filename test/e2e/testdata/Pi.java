/*
Copyright The spark-apiserver Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package io.sparkapiserver.e2e;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Estimates pi by throwing darts at a square. Arguments: the number of tasks, and for how many milliseconds each of them
 * rests afterwards, so that a test finds the job still running.
 */
public final class Pi {
  private static final int DARTS = 100_000;

  private Pi() {}

  public static void main(String[] arguments) {
    int tasks = Integer.parseInt(arguments[0]);
    long rest = arguments.length > 1 ? Long.parseLong(arguments[1]) : 0;
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
      List<Integer> seeds = IntStream.range(0, tasks).boxed().collect(Collectors.toList());
      long hits = context.parallelize(seeds, tasks).map(seed -> throwDarts(seed, rest)).reduce(Long::sum);
      System.out.println("Pi is roughly " + 4.0 * hits / ((double) tasks * DARTS));
    }
  }

  private static long throwDarts(int seed, long rest) throws InterruptedException {
    SplittableRandom random = new SplittableRandom(seed);
    long hits = 0;
    for (int i = 0; i < DARTS; i++) {
      double x = random.nextDouble(-1, 1);
      double y = random.nextDouble(-1, 1);
      if (x * x + y * y <= 1) {
        hits++;
      }
    }
    Thread.sleep(rest);
    return hits;
  }
}
