package io.onlyonce.ground;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/**
 * Promises that hold on several databases: an abstract subclass states them, a tiny subclass per
 * database opens it.
 *
 * <pre>{@code
 * abstract class LedgerContract extends DatabaseContract { @Test void …() }
 *
 * class LedgerOnPostgresTest extends LedgerContract {
 *     LedgerOnPostgresTest() {
 *         super(TestDatabase::postgres);
 *     }
 * }
 * }</pre>
 *
 * The database is one per class; its tests share it and keep apart by their data.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class DatabaseContract {

    private final Opening opening;

    /** Open between the first test and the last. */
    protected TestDatabase db;

    protected DatabaseContract(Opening opening) {
        this.opening = opening;
    }

    /** Opens a database, for example {@code TestDatabase::postgres}. */
    @FunctionalInterface
    public interface Opening {
        TestDatabase open() throws Exception;
    }

    @BeforeAll
    void openDatabase() throws Exception {
        db = opening.open();
    }

    @AfterAll
    void closeDatabase() throws Exception {
        if (db != null) { // opening it may have failed
            db.close();
        }
    }
}
