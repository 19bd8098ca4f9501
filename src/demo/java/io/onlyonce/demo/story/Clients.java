package io.onlyonce.demo.story;

import io.onlyonce.OnlyOnceException;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** Those who ask for transfers. */
final class Clients {

    private static final int ATTEMPTS = 10;
    private static final Consumer<Moment> UNDISTURBED = moment -> {};

    private Clients() {}

    /** A client that asks again, under the same id, until it is told something definite. */
    static Answer ask(Teller teller, Order order) {
        Answer answer = ask(teller, order, UNDISTURBED);
        for (int again = 1; answer.kind() == Answer.Kind.ERROR && again < ATTEMPTS; again++) {
            answer = ask(teller, order, UNDISTURBED);
        }
        return answer;
    }

    /** A client that asks once, and whose transfer meets with something on its way. */
    static Answer ask(Teller teller, Order order, Consumer<Moment> at) {
        try {
            return teller.transfer(order, at);
        } catch (SQLException | OnlyOnceException e) { // such as: still in flight
            return Answer.error();
        }
    }

    /** Many with the same order at the same time. */
    static List<Answer> together(int clients, Teller teller, Order order)
            throws InterruptedException, ExecutionException, TimeoutException {
        var start = new CyclicBarrier(clients);
        Callable<Answer> client =
                () -> {
                    start.await(30, TimeUnit.SECONDS);
                    return ask(teller, order);
                };
        ExecutorService threads = Executors.newFixedThreadPool(clients);
        try {
            List<Future<Answer>> asked = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                asked.add(threads.submit(client));
            }
            List<Answer> answers = new ArrayList<>();
            for (Future<Answer> answer : asked) {
                answers.add(answer.get(60, TimeUnit.SECONDS));
            }
            return answers;
        } finally {
            threads.shutdownNow();
        }
    }
}
