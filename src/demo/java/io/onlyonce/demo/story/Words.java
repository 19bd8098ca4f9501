package io.onlyonce.demo.story;

import java.util.List;
import java.util.Locale;

/** Counts and answers as people say them. */
final class Words {

    private Words() {}

    static String times(long count) {
        return count == 0 ? "never" : count == 1 ? "once" : count + " times";
    }

    static String count(long count, String thing) {
        return count + " " + thing + (count == 1 ? "" : "s");
    }

    static String money(long cents) {
        return String.format(Locale.ROOT, "%,.2f", cents / 100.0);
    }

    /** What the clients got, in one phrase. */
    static String heard(List<Answer> answers) {
        long different = answers.stream().distinct().count();
        if (answers.size() == 1) {
            return "the retry got " + answers.get(0);
        }
        if (different == 1) {
            return (answers.size() == 2 ? "both got " : "all " + answers.size() + " got ")
                    + answers.get(0);
        }
        return answers.get(0).kind() == Answer.Kind.ERROR
                ? "first an error, then " + answers.get(1)
                : answers.size() + " clients got " + different + " different receipts";
    }

    static String verdict(Answer answer) {
        return answer.isReceipt()
                ? "\"done\""
                : answer.kind() == Answer.Kind.REFUSED ? "refused" : "an error";
    }
}
