package io.onlyonce.command;

import io.onlyonce.ground.TestDatabase;

class CommandRunnerOnH2Test extends CommandRunnerContract {

    CommandRunnerOnH2Test() {
        super(TestDatabase::h2);
    }
}
