/** Writes that are safe to repeat, over plain JDBC. */
module io.onlyonce {
    requires transitive java.sql;
    requires transitive com.fasterxml.jackson.databind;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports io.onlyonce;
    exports io.onlyonce.command;
    exports io.onlyonce.outbox;
    exports io.onlyonce.payload;
    exports io.onlyonce.tx;
}
