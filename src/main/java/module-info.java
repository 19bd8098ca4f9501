/** Writes that are safe to repeat, over plain JDBC. */
@SuppressWarnings("requires-automatic") // the driver has a stable name, and is optional
module io.onlyonce {
    requires transitive java.sql;
    requires transitive com.fasterxml.jackson.databind;
    requires org.slf4j;
    requires static transitive org.jspecify;
    requires static org.postgresql.jdbc;

    exports io.onlyonce;
    exports io.onlyonce.command;
    exports io.onlyonce.http;
    exports io.onlyonce.inbox;
    exports io.onlyonce.observe;
    exports io.onlyonce.outbox;
    exports io.onlyonce.payload;
    exports io.onlyonce.retention;
    exports io.onlyonce.tx;
}
