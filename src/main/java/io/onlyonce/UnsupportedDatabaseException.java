package io.onlyonce;

/** The data source leads to a database that OnlyOnce does not know. */
public final class UnsupportedDatabaseException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    /** Names the product as its driver does. */
    public UnsupportedDatabaseException(String product) {
        super("OnlyOnce runs on PostgreSQL and H2, and this data source leads to " + product + ".");
    }
}
