package io.onlyonce.command;

import io.onlyonce.ground.TestDatabase;

class CommandDedupOnH2Test extends CommandDedupContract {

    CommandDedupOnH2Test() {
        super(TestDatabase::h2);
    }
}
