package io.onlyonce.demo;

import io.onlyonce.demo.story.Story;

import java.util.Arrays;
import java.util.List;

/**
 * What {@code ./gradlew demo} runs: the story of a bank whose transfers meet with misfortune, told
 * and proved from the database; the exit code is 0 only if every claim held. With the argument
 * {@code serve} it is an HTTP server instead.
 */
public final class Demo {

    private Demo() {}

    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("serve")) {
            Serve.main(Arrays.copyOfRange(args, 1, args.length));
            return;
        }
        System.exit(Story.tell(List.of(args), System.out));
    }
}
