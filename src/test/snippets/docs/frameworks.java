package docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.command.*;
import io.onlyonce.docs.Harness;
import io.onlyonce.payload.PayloadHash;
import jakarta.persistence.*;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.cfg.Configuration;
import org.jdbi.v3.core.Jdbi;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.*;
import org.springframework.transaction.support.TransactionTemplate;

/** Run by frameworksTest, with the real libraries. */
public class frameworks extends Harness {

    public record Receipt(String account, long amount) {}

    @Entity(name = "deposit")
    public static class Deposit {
        @Id public String account;
        public long amount;

        public Deposit() {}

        Deposit(String account, long amount) {
            this.account = account;
            this.amount = amount;
        }
    }

    interface Depositing {
        Receipt deposit(Command command, String account, long amount) throws Exception;
    }

    //> Inside Spring, jOOQ, Jdbi and Hibernate

    /** Once, and not at all where the second write of a transaction fails. */
    private void holds(String name, Depositing depositing) throws Exception {
        db.execute("CREATE TABLE IF NOT EXISTS deposit (account varchar(255) PRIMARY KEY, amount bigint CHECK (amount > 0))");
        var receipt = new Receipt(name, 5);
        assertThat(depositing.deposit(command(name + "-1"), name, 5)).isEqualTo(receipt);
        assertThat(depositing.deposit(command(name + "-1"), name, 5)).isEqualTo(receipt);
        assertThat(db.count("SELECT count(*) FROM deposit WHERE account = '" + name + "'")).isEqualTo(1);
        assertThatThrownBy(() -> depositing.deposit(command(name + "-2"), name + "-free", -1)).isInstanceOf(Exception.class);
        assertThat(depositing.deposit(command(name + "-2"), name + "-free", 1)).isEqualTo(new Receipt(name + "-free", 1));
        assertThat(db.count("SELECT count(*) FROM onlyonce.command_dedup WHERE command_id LIKE '" + name + "-%'")).isEqualTo(2);
    }

    private static Command command(String id) {
        return Command.of(new CommandScope("acme", "ui", "deposit"), id, PayloadHash.ofFields(Map.of("id", id)));
    }

    class SpringHigh {
        //> Spring: high road
    }

    class SpringLow {
        final TransactionTemplate transactionTemplate = new TransactionTemplate(new DataSourceTransactionManager(dataSource));
        final JdbcTemplate jdbcTemplate = new JdbcTemplate(dataSource);

        //> Spring: inside @Transactional or a TransactionTemplate
    }

    public void spring() throws Exception {
        holds("spring-high", (c, account, amount) -> new SpringHigh().deposit(c, account, amount).value());
        holds("spring-low", new SpringLow()::deposit);
    }

    class JooqHigh {
        //> jOOQ: high road
    }

    class JooqLow {
        final DSLContext jooq = DSL.using(dataSource, SQLDialect.POSTGRES);

        //> jOOQ: inside transactionResult
    }

    public void jooq() throws Exception {
        holds("jooq-high", (c, account, amount) -> new JooqHigh().deposit(c, account, amount).value());
        holds("jooq-low", new JooqLow()::deposit);
    }

    class JdbiHigh {
        //> Jdbi: high road
    }

    class JdbiLow {
        final Jdbi jdbi = Jdbi.create(dataSource);

        //> Jdbi: inside inTransaction
    }

    public void jdbi() throws Exception {
        holds("jdbi-high", (c, account, amount) -> new JdbiHigh().deposit(c, account, amount).value());
        holds("jdbi-low", new JdbiLow()::deposit);
    }

    private SessionFactory sessions;

    class HibernateHigh {
        //> Hibernate: high road
    }

    class HibernateLow {
        //> Hibernate: inside a transaction of its own
    }

    public void hibernate() throws Exception {
        var configuration = new Configuration().addAnnotatedClass(Deposit.class);
        configuration.getProperties().put("hibernate.connection.datasource", dataSource);
        try (SessionFactory factory = configuration.buildSessionFactory()) {
            sessions = factory;
            holds("hibernate-high", (c, account, amount) -> new HibernateHigh().deposit(c, account, amount).value());
            holds("hibernate-low", new HibernateLow()::deposit);
        }
    }
}
