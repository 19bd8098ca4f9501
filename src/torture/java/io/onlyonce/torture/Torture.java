package io.onlyonce.torture;

import io.onlyonce.ground.PostgresServer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs histories from seeds and checks each: {@code --histories N --seed S --minutes M}, the bounds
 * for each seed; with {@code --mutants} it plants bugs and sees that they are found; with {@code
 * --first N} it begins at a history, to see it again.
 */
final class Torture {

    static final int WAVE = 48;

    /** Most of a history's time is waiting for processes to start and timeouts to end. */
    private static final int LANES = 3;

    private static final int FRESH = 1 << 30;

    private final Arguments arguments;
    private final Report report = new Report();
    private volatile boolean violated;
    private volatile long began;

    private Torture(Arguments arguments) {
        this.arguments = arguments;
    }

    public static void main(String[] args) throws Exception {
        var arguments = Arguments.parse(List.of(args));
        boolean good = false;
        try {
            good = arguments.mutants() ? Mutants.run(arguments) : new Torture(arguments).run();
        } catch (Exception e) {
            e.printStackTrace();
        }
        System.exit(good ? 0 : 1); // threads of lanes that wait for a client must not keep it
    }

    private boolean run() throws Exception {
        Mutants.requirePlantable(arguments.folder("plants"));
        for (long seed : arguments.seeds()) {
            System.out.println("seed " + seed);
            began = System.nanoTime();
            var lanes = Executors.newFixedThreadPool(LANES);
            List<Future<Boolean>> ends = new ArrayList<>();
            for (int lane = 0; lane < LANES; lane++) {
                int first = arguments.first() / WAVE + lane;
                ends.add(lanes.submit(() -> run(seed, first)));
            }
            boolean good = true;
            for (Future<Boolean> end : ends) {
                good &= end.get();
            }
            lanes.shutdown();
            if (!good) {
                return false;
            }
        }
        System.out.println(report.table());
        System.out.printf(
                "0 violations in %d histories: at a confidence of 95%% fewer than %.5f of all"
                        + " histories violate a promise%n",
                report.histories(), Math.min(1, 3.0 / report.histories()));
        return true;
    }

    /** One lane: every so many waves of this seed, on a server of its own. */
    private boolean run(long seed, int first) throws Exception {
        int end = (arguments.first() + arguments.histories() + WAVE - 1) / WAVE;
        if (first >= end) {
            return true;
        }
        Path folder = arguments.folder("seed-" + seed + "-" + first);
        try (PostgresServer server = Ground.server();
                var ground = new Ground(server, seed, folder, "")) {
            for (int wave = first; wave < end && !violated && !isOver(); wave += LANES) {
                Ground.Wave lived;
                try {
                    lived = ground.live(wave, wave * WAVE, WAVE);
                } catch (Exception e) { // whatever it is, somebody will want to see it again
                    violated = true;
                    e.printStackTrace();
                    ground.keepLogs();
                    System.out.println(replay(seed, wave, folder));
                    throw e;
                }
                List<Checker.Violation> violations = Checker.check(lived.evidence());
                if (!violations.isEmpty()) {
                    violated = true;
                    ground.keep(lived, violations);
                    violations.stream().limit(20).forEach(System.out::println);
                    System.out.println(replay(seed, wave, folder));
                    return false;
                }
                delete(folder.resolve("wave-" + wave));
                report.add(lived);
                System.out.println(report.progress());
            }
        }
        return true;
    }

    private boolean isOver() {
        return System.nanoTime() - began > arguments.minutes() * 60e9;
    }

    private static String replay(long seed, int wave, Path folder) {
        return ("VIOLATION: histories, database and logs are in %s; again with%n"
                        + "  ./gradlew torture -Pargs=\"--seed %d --first %d --histories %d\"")
                .formatted(folder, seed, wave * WAVE, WAVE);
    }

    static void delete(Path folder) throws IOException {
        try (var files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    /** What the command line says. */
    record Arguments(
            int histories,
            List<Long> seeds,
            double minutes,
            int first,
            boolean mutants,
            List<String> names) {

        static Arguments parse(List<String> args) {
            int histories = 1_000;
            double minutes = 24 * 60;
            int first = 0;
            boolean mutants = false;
            List<Long> seeds = new ArrayList<>();
            List<String> names = new ArrayList<>();
            for (int i = 0; i < args.size(); i++) {
                switch (args.get(i)) {
                    case "--histories" -> histories = Integer.parseInt(args.get(++i));
                    case "--minutes" -> minutes = Double.parseDouble(args.get(++i));
                    case "--first" -> first = Integer.parseInt(args.get(++i));
                    case "--mutants" -> mutants = true;
                    case "--mutant" -> {
                        mutants = true;
                        names.add(args.get(++i));
                    }
                    case "--seed" -> {
                        String seed = args.get(++i);
                        seeds.add(
                                seed.equals("fresh")
                                        ? new SecureRandom().nextInt(FRESH)
                                        : Long.parseLong(seed));
                    }
                    default ->
                            throw new IllegalArgumentException(
                                    args.get(i)
                                            + ": say --histories N, --seed S (or fresh), --minutes"
                                            + " M, --first N, --mutants or --mutant NAME");
                }
            }
            if (seeds.isEmpty()) {
                seeds.add((long) new SecureRandom().nextInt(FRESH));
            }
            return new Arguments(histories, seeds, minutes, first, mutants, names);
        }

        Path folder(String name) throws IOException {
            Path folder = Path.of("build", "torture", name);
            if (Files.exists(folder)) {
                delete(folder);
            }
            return Files.createDirectories(folder);
        }
    }
}
