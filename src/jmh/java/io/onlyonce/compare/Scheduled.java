package io.onlyonce.compare;

import com.gruelbox.transactionoutbox.Dialect;
import com.gruelbox.transactionoutbox.Instantiator;
import com.gruelbox.transactionoutbox.Persistor;
import com.gruelbox.transactionoutbox.ThreadLocalContextTransactionManager;
import com.gruelbox.transactionoutbox.TransactionManager;
import com.gruelbox.transactionoutbox.TransactionOutbox;

import java.nio.charset.StandardCharsets;
import java.sql.SQLException;

import javax.sql.DataSource;

/**
 * transaction-outbox: the bare work and one scheduled call under a unique request id, in one
 * transaction. No result, no replay, no payload check; a duplicate fails. What it would do after
 * the commit is left out.
 */
final class Scheduled implements Variant {

    private final ThreadLocalContextTransactionManager transactions;
    private final TransactionOutbox outbox;

    Scheduled(DataSource pool) {
        transactions = TransactionManager.fromDataSource(pool);
        TransactionOutboxDrain.Target nobody = (key, type, aggregate, version, payload) -> {};
        outbox =
                TransactionOutbox.builder()
                        .transactionManager(transactions)
                        .persistor(Persistor.forDialect(Dialect.POSTGRESQL_9))
                        .instantiator(Instantiator.using(type -> nobody))
                        .submitter((entry, run) -> {})
                        .serializeMdc(false)
                        .build();
    }

    @Override
    public void run(String id, int account, Runnable inside) throws SQLException {
        String payload = new String(Business.payload(account), StandardCharsets.UTF_8);
        transactions.inTransactionThrows(
                transaction -> {
                    Business.post(transaction.connection(), id, account);
                    outbox.with()
                            .uniqueRequestId(id)
                            .schedule(TransactionOutboxDrain.Target.class)
                            .publish(
                                    "deposited:" + id,
                                    "Deposited",
                                    String.valueOf(account),
                                    1,
                                    payload);
                });
    }
}
