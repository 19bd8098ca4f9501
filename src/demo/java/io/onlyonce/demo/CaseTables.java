package io.onlyonce.demo;

import io.onlyonce.Schema;

import java.sql.SQLException;

import javax.sql.DataSource;

/** The tables of the case management, and some cases of two tenants to begin with. */
final class CaseTables {

    private static final String TABLES =
            """
            CREATE TABLE IF NOT EXISTS case_file (
                tenant text, id text, status text NOT NULL, version bigint NOT NULL,
                PRIMARY KEY (tenant, id)
            );
            CREATE TABLE IF NOT EXISTS officer (
                tenant text, id text,
                PRIMARY KEY (tenant, id)
            );
            CREATE TABLE IF NOT EXISTS case_assignment (
                tenant text, case_id text, case_version bigint, officer_id text NOT NULL,
                active boolean NOT NULL DEFAULT true,
                PRIMARY KEY (tenant, case_id, case_version)
            );
            CREATE UNIQUE INDEX IF NOT EXISTS one_primary_officer
                ON case_assignment (tenant, case_id) WHERE active;
            CREATE INDEX IF NOT EXISTS cases_of_officer
                ON case_assignment (tenant, officer_id) WHERE active;
            CREATE TABLE IF NOT EXISTS case_escalation (
                tenant text, case_id text, case_version bigint, reason text NOT NULL,
                CONSTRAINT one_escalation_per_version PRIMARY KEY (tenant, case_id, case_version)
            );
            CREATE TABLE IF NOT EXISTS case_audit (
                tenant text, caller text, command_id text, action text,
                case_id text NOT NULL, reason text NOT NULL,
                CONSTRAINT once_per_command PRIMARY KEY (tenant, caller, command_id, action)
            );
            """;

    /** CASE-1 to CASE-99, of which CASE-9 is closed; OFF-20 has as many cases as one may have. */
    private static final String ROWS =
            """
            INSERT INTO case_file
                SELECT t, 'CASE-' || n, CASE n WHEN 9 THEN 'CLOSED' ELSE 'OPEN' END, 1
                FROM unnest(ARRAY['acme', 'globex']) t, generate_series(1, 99) n
                ON CONFLICT DO NOTHING;
            INSERT INTO officer
                SELECT t, o FROM unnest(ARRAY['acme', 'globex']) t, unnest(ARRAY['OFF-1', 'OFF-2', 'OFF-20']) o
                ON CONFLICT DO NOTHING;
            INSERT INTO case_assignment
                SELECT t, 'CASE-' || n, 1, 'OFF-20'
                FROM unnest(ARRAY['acme', 'globex']) t, generate_series(80, 99) n
                ON CONFLICT DO NOTHING;
            """;

    private CaseTables() {}

    static void create(DataSource dataSource) throws SQLException {
        Schema.apply(dataSource);
        try (var connection = dataSource.getConnection();
                var statement = connection.createStatement()) {
            statement.execute(TABLES + ROWS);
        }
    }
}
