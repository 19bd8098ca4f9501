package io.onlyonce.torture;

import io.onlyonce.ground.PostgresServer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Runs histories from seeds and checks each: {@code --histories N --seed S --minutes M}; with
 * {@code --mutants} it plants bugs and sees that they are found; with {@code --first N} it begins
 * at a history, to see it again.
 */
final class Torture {

    static final int WAVE = 48;
    private static final int FRESH = 1 << 30;

    private final Arguments arguments;
    private final Report report = new Report();

    private Torture(Arguments arguments) {
        this.arguments = arguments;
    }

    public static void main(String[] args) throws Exception {
        var arguments = Arguments.parse(List.of(args));
        try (PostgresServer server = Ground.server()) {
            boolean good =
                    arguments.mutants()
                            ? Mutants.run(server, arguments)
                            : new Torture(arguments).run(server);
            System.exit(good ? 0 : 1);
        }
    }

    private boolean run(PostgresServer server) throws Exception {
        for (long seed : arguments.seeds()) {
            System.out.println("seed " + seed);
            if (!run(server, seed)) {
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

    private boolean run(PostgresServer server, long seed) throws Exception {
        Path folder = arguments.folder("seed-" + seed);
        var own = new Report();
        try (var ground = new Ground(server, seed, folder, "")) {
            int wave = arguments.first() / WAVE;
            while (own.histories() < arguments.histories()
                    && own.seconds() < arguments.minutes() * 60) {
                Ground.Wave lived;
                try {
                    lived = ground.live(wave, wave * WAVE, WAVE);
                } catch (IOException e) {
                    ground.keepLogs();
                    System.out.println(replay(seed, wave, folder));
                    throw e;
                }
                own.add(lived);
                report.add(lived);
                List<Checker.Violation> violations = new ArrayList<>();
                lived.evidence().forEach(e -> violations.addAll(Checker.check(e)));
                if (!violations.isEmpty()) {
                    ground.keep(lived, violations);
                    violations.stream().limit(20).forEach(System.out::println);
                    System.out.println(replay(seed, wave, folder));
                    return false;
                }
                delete(folder.resolve("wave-" + wave));
                wave++;
                if (wave % 4 == 0) {
                    System.out.println(report.progress());
                }
            }
        }
        return true;
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
