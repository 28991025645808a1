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

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * Runs the main method of Spark's own SparkSubmit, the class that bin/spark-submit runs, for one command line after the
 * other, which spares the start of two virtual machines each time.
 *
 * <p>Each line of the input is the user's home folder and the arguments, in base64 and with blanks between. The answer
 * to each is one line: "ok", or "refused" and the message in base64.
 */
public final class Submissions {
  private Submissions() {}

  public static void main(String[] ignored) throws Exception {
    PrintStream answers = System.out;
    System.setOut(System.err);
    Method submit = Class.forName("org.apache.spark.deploy.SparkSubmit").getMethod("main", String[].class);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ", -1);
      System.setProperty("user.home", decode(words[0]));
      String[] args = new String[words.length - 1];
      for (int i = 0; i < args.length; i++) {
        args[i] = decode(words[i + 1]);
      }
      String answer = "ok";
      try {
        submit.invoke(null, (Object) args);
      } catch (InvocationTargetException e) {
        e.getCause().printStackTrace();
        answer = "refused " + Base64.getEncoder().encodeToString(
            String.valueOf(e.getCause().getMessage()).getBytes(StandardCharsets.UTF_8));
      }
      answers.println(answer);
      answers.flush();
    }
  }

  private static String decode(String word) {
    return new String(Base64.getDecoder().decode(word), StandardCharsets.UTF_8);
  }
}
