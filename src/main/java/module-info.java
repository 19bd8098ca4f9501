/** Writes that are safe to repeat, over plain JDBC. */
// The driver and Micrometer have stable names, and are optional.
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module io.onlyonce {
    requires transitive java.sql;
    requires transitive com.fasterxml.jackson.databind;
    requires org.slf4j;
    requires static transitive org.jspecify;
    requires static org.postgresql.jdbc;
    requires static transitive micrometer.core;

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
