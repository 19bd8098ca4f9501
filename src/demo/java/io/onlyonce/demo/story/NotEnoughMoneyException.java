package io.onlyonce.demo.story;

/** The account does not hold what is to be moved. */
final class NotEnoughMoneyException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    NotEnoughMoneyException() {
        super("not enough money");
    }
}
