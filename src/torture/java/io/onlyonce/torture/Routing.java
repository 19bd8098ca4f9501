package io.onlyonce.torture;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.logging.Logger;

import javax.sql.DataSource;

/** One data source for the library, behind which each thread of a client has its own desk. */
final class Routing implements DataSource {

    private final ThreadLocal<Desk> mine;

    /** Threads that have no desk, such as the relay's, use this one. */
    Routing(Desk others) {
        mine = ThreadLocal.withInitial(() -> others);
    }

    void sitDown(Desk desk) {
        mine.set(desk);
    }

    Desk desk() {
        return mine.get();
    }

    @Override
    public Connection getConnection() throws SQLException {
        return mine.get().pool().getConnection();
    }

    @Override
    public Connection getConnection(String user, String password) {
        throw new UnsupportedOperationException();
    }

    @Override
    public PrintWriter getLogWriter() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void setLogWriter(PrintWriter out) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void setLoginTimeout(int seconds) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int getLoginTimeout() {
        return 0;
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getGlobal();
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }
}
