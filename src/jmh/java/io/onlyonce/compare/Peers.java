package io.onlyonce.compare;

import io.onlyonce.command.RunOptions;
import io.onlyonce.tx.Isolation;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Other libraries in the same run: a fresh command, and what they do with one that is known. */
final class Peers implements Compare.Comparison {

    private static final String DBOS = "DBOS Transact, workflow and step";
    private static final String SCHEDULED = "transaction-outbox, schedule";
    private static final int BLOCK = 150;

    @Override
    public void run(Ground ground, Report report, Effort effort) throws Exception {
        var bare = new Bare(ground.pool(1, Isolation.READ_COMMITTED));
        var ours = new Ours(ground.pool(1, Isolation.READ_COMMITTED), RunOptions.standard());
        try (var dbos =
                new Dbos(
                        ground.pool(5, Isolation.READ_COMMITTED),
                        ground.pool(1, Isolation.READ_COMMITTED))) {
            List<String> known = new ArrayList<>();
            for (int i = 0; i < effort.of(500); i++) {
                String id = Business.id();
                dbos.run(id, 1);
                ours.run(id, 1);
                known.add(id);
            }
            ground.execute("VACUUM ANALYZE");
            var ways =
                    new Interleaved()
                            .add(Fresh.BARE, bare)
                            .add(Fresh.OURS, ours)
                            .add(DBOS, dbos)
                            .add(SCHEDULED, new Scheduled(ground.pool(1, Isolation.READ_COMMITTED)))
                            .add(Fresh.OURS + ", replay", replay(ours, known))
                            .add(DBOS + ", replay", replay(dbos, known));
            long before = effects(ground);
            ways.run(ground, report, effort, BLOCK);
            for (String name : List.of(Fresh.OURS, DBOS, SCHEDULED)) {
                report.add("p50 against bare", name, ways.against(name, Fresh.BARE));
            }
            for (String name : List.of(Fresh.OURS, DBOS)) {
                String replay = name + ", replay";
                report.add("replay, p50 against bare", name, ways.against(replay, Fresh.BARE));
            }
            Backlog.check(4L * ways.operations(), effects(ground) - before);
        }
    }

    private static Interleaved.Operation replay(Variant variant, List<String> known) {
        return () -> {
            String id = known.get(ThreadLocalRandom.current().nextInt(known.size()));
            return () -> variant.run(id, 1);
        };
    }

    private static long effects(Ground ground) throws Exception {
        return ground.count("SELECT count(*) FROM audit");
    }
}
