package io.onlyonce.command;

import io.onlyonce.ground.TestDatabase;

class CommandRunnerOnPostgresTest extends CommandRunnerContract {

    CommandRunnerOnPostgresTest() {
        super(TestDatabase::postgres);
    }
}
