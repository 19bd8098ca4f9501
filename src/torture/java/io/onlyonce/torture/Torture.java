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
 * --first N} it begins at a history, to see it again; with {@code --sum} it adds up what runs have
 * counted.
 */
final class Torture {

    static final int WAVE = 48;

    private static final Path FOLDER = Path.of("build", "torture");

    private static final int FRESH = 1 << 30;

    private final Arguments arguments;
    private final List<Totals> totals = new ArrayList<>();
    private volatile boolean violated;
    private volatile long began;

    private Torture(Arguments arguments) {
        this.arguments = arguments;
    }

    public static void main(String[] args) throws Exception {
        var arguments = Arguments.parse(List.of(args));
        boolean good = false;
        try {
            if (arguments.sum()) {
                System.out.println(Report.table(Totals.sum(Totals.read(FOLDER))));
                good = true;
            } else {
                good = arguments.mutants() ? Mutants.run(arguments) : new Torture(arguments).run();
            }
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
            var report = new Report(seed, arguments.first());
            var lanes = Executors.newFixedThreadPool(arguments.lanes());
            List<Future<Boolean>> ends = new ArrayList<>();
            for (int lane = 0; lane < arguments.lanes(); lane++) {
                int first = arguments.first() / WAVE + lane;
                ends.add(lanes.submit(() -> run(seed, first, report)));
            }
            boolean good = true;
            for (Future<Boolean> end : ends) {
                good &= end.get();
            }
            lanes.shutdown();
            if (!good) {
                return false;
            }
            totals.add(report.totals());
        }
        System.out.println(Report.table(Totals.sum(totals)));
        return true;
    }

    /** One lane: every so many waves of this seed, on a server of its own. */
    private boolean run(long seed, int first, Report report) throws Exception {
        int end = (arguments.first() + arguments.histories() + WAVE - 1) / WAVE;
        if (first >= end) {
            return true;
        }
        Path folder = arguments.folder("seed-" + seed + "-" + first);
        try (PostgresServer server = Ground.server();
                var ground = new Ground(server, seed, folder, Startup.of(arguments.logging()))) {
            for (int wave = first;
                    wave < end && !violated && !isOver();
                    wave += arguments.lanes()) {
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
                synchronized (report) { // a later total must not be overwritten by an earlier one
                    Totals soFar = report.add(lived);
                    soFar.write(FOLDER);
                    System.out.println(soFar.progress());
                }
            }
        }
        return true;
    }

    private boolean isOver() {
        return System.nanoTime() - began > arguments.minutes() * 60e9;
    }

    private static String replay(long seed, int wave, Path folder) {
        return ("VIOLATION: histories, database and logs are in %s; again with%n  ./gradlew torture"
                        + " -Pargs=\"--logs --seed %d --first %d --histories %d\"")
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
            int lanes,
            boolean logging,
            boolean sum,
            boolean mutants,
            List<String> names) {

        static Arguments parse(List<String> args) {
            int histories = 1_000;
            double minutes = 24 * 60;
            int first = 0;
            int lanes = 3;
            boolean logging = false;
            boolean sum = false;
            boolean mutants = false;
            List<Long> seeds = new ArrayList<>();
            List<String> names = new ArrayList<>();
            for (int i = 0; i < args.size(); i++) {
                switch (args.get(i)) {
                    case "--histories" -> histories = Integer.parseInt(args.get(++i));
                    case "--minutes" -> minutes = Double.parseDouble(args.get(++i));
                    case "--first" -> first = Integer.parseInt(args.get(++i));
                    case "--lanes" -> lanes = Integer.parseInt(args.get(++i));
                    case "--logs" -> logging = true;
                    case "--sum" -> sum = true;
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
                                            + " M, --first N, --lanes N, --logs, --mutants,"
                                            + " --mutant NAME or --sum");
                }
            }
            if (seeds.isEmpty()) {
                seeds.add((long) new SecureRandom().nextInt(FRESH));
            }
            return new Arguments(
                    histories, seeds, minutes, first, lanes, logging, sum, mutants, names);
        }

        Path folder(String name) throws IOException {
            Path folder = FOLDER.resolve(name);
            if (Files.exists(folder)) {
                delete(folder);
            }
            return Files.createDirectories(folder);
        }
    }
}
