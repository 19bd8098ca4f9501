package io.onlyonce.torture;

import io.onlyonce.ground.PostgresServer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/** The checker's own test: plants each bug, runs histories, and says which rule found it when. */
final class Mutants {

    /** So many histories may a bug stay hidden. */
    private static final int PATIENCE = 10 * Torture.WAVE;

    private static final int LANES = 3;

    private Mutants() {}

    private record Found(Mutant mutant, String rules, int histories) {

        @Override
        public String toString() {
            return "| %s | %s | %s |"
                    .formatted(
                            mutant.name(),
                            rules.isEmpty() ? "NOT FOUND" : rules,
                            rules.isEmpty() ? "more than " + histories : histories);
        }
    }

    private static List<Mutant> all() {
        return Stream.of(
                        Plants.COMMAND,
                        Plants.TRANSACTIONS,
                        Plants.OUTBOX,
                        Plants.INBOX,
                        Plants.RETENTION)
                .flatMap(List::stream)
                .toList();
    }

    /** Fails if the library has changed where a bug is to be planted; for runs without bugs too. */
    static void requirePlantable(Path folder) throws IOException {
        for (Mutant mutant : all()) {
            mutant.plant(folder.resolve(mutant.name()));
        }
        Torture.delete(folder);
    }

    static boolean run(Torture.Arguments arguments) throws Exception {
        List<Mutant> chosen =
                all().stream()
                        .filter(
                                mutant ->
                                        arguments.names().isEmpty()
                                                || arguments.names().contains(mutant.name()))
                        .toList();
        long seed = arguments.seeds().get(0);
        System.out.println("seed " + seed + ", " + chosen.size() + " planted bugs");
        var lanes = Executors.newFixedThreadPool(LANES);
        List<Future<Found>> all = new ArrayList<>();
        for (Mutant mutant : chosen) {
            Path folder = arguments.folder("mutant-" + mutant.name().replaceAll("\\W+", "-"));
            all.add(lanes.submit(() -> find(mutant, seed, folder)));
        }
        List<Found> found = new ArrayList<>();
        for (Future<Found> each : all) {
            found.add(each.get());
            System.out.println(each.get());
        }
        lanes.shutdown();
        System.out.println("\n| planted bug | found by | within histories |\n|---|---|---|");
        found.forEach(System.out::println);
        long missed = found.stream().filter(each -> each.rules().isEmpty()).count();
        System.out.printf("%d of %d found%n", found.size() - missed, found.size());
        return missed == 0 && !found.isEmpty();
    }

    private static Found find(Mutant mutant, long seed, Path folder) throws Exception {
        Startup startup = Startup.with(mutant.compile(folder));
        try (PostgresServer server = Ground.server();
                var ground = new Ground(server, seed, folder, startup)) {
            for (int wave = 0; wave * Torture.WAVE < PATIENCE; wave++) {
                Ground.Wave lived = ground.live(wave, wave * Torture.WAVE, Torture.WAVE);
                var violations = Checker.check(lived.evidence());
                if (!violations.isEmpty()) {
                    ground.keep(lived, violations);
                    var rules = new TreeSet<String>();
                    violations.forEach(violation -> rules.add(violation.rule()));
                    return new Found(mutant, String.join(", ", rules), (wave + 1) * Torture.WAVE);
                }
            }
        }
        return new Found(mutant, "", PATIENCE);
    }
}
