package io.onlyonce.compare;

import dev.dbos.transact.DBOS;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.context.WorkflowOptions;
import dev.dbos.transact.workflow.Workflow;

import java.sql.SQLException;

import javax.sql.DataSource;

/**
 * DBOS Transact: a workflow under the command's id with one step, the bare transaction. It runs the
 * business and its own records in separate transactions, and stores no event.
 */
final class Dbos implements Variant, AutoCloseable {

    /** What is registered. */
    public interface Deposits {
        String deposit(String id, int account) throws SQLException;
    }

    /** The workflow. */
    public static final class DepositsImpl implements Deposits {
        private final DBOS dbos;
        private final Bare bare;

        DepositsImpl(DBOS dbos, Bare bare) {
            this.dbos = dbos;
            this.bare = bare;
        }

        @Override
        @Workflow(name = "deposit")
        public String deposit(String id, int account) throws SQLException {
            return dbos.runStep(
                    () -> {
                        bare.run(id, account);
                        return "receipt-" + id;
                    },
                    "post");
        }
    }

    private final DBOS dbos;
    private final Deposits deposits;

    @SuppressWarnings("removal") // of the setting: the server must not start before it is gone
    Dbos(DataSource own, DataSource business) {
        dbos =
                new DBOS(
                        DBOSConfig.defaults("comparison")
                                .withDataSource(own)
                                .withAppVersion("1")
                                .withAdminServer(false));
        deposits = dbos.registerProxy(Deposits.class, new DepositsImpl(dbos, new Bare(business)));
        dbos.launch();
    }

    @Override
    public void run(String id, int account, Runnable inside) throws SQLException {
        try (var context = new WorkflowOptions(id).setContext()) {
            deposits.deposit(id, account);
        }
    }

    @Override
    public void close() {
        dbos.shutdown();
    }
}
