package io.onlyonce.ops;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A command and its options: {@code requeue --tenant acme --key k}. */
final class Arguments {

    private static final Set<String> SWITCHES =
            Set.of("json", "dry-run", "completed", "released", "all");

    private final String command;
    private final Map<String, String> options = new HashMap<>();

    /** The environment has what every call needs: ONLYONCE_URL, _USER, _PASSWORD, _SCHEMA. */
    Arguments(List<String> args, Map<String, String> environment) {
        for (String name : List.of("url", "user", "schema")) {
            String value = environment.get("ONLYONCE_" + name.toUpperCase(Locale.ROOT));
            if (value != null) {
                options.put(name, value);
            }
        }
        if (args.isEmpty() || args.get(0).startsWith("--")) {
            throw new IllegalArgumentException("Say a command first.");
        }
        command = args.get(0);
        for (int i = 1; i < args.size(); i++) {
            String arg = args.get(i);
            if (!arg.startsWith("--")) {
                throw new IllegalArgumentException("\"" + arg + "\" belongs to no option.");
            }
            String name = arg.substring(2);
            if (SWITCHES.contains(name)) {
                options.put(name, "true");
            } else if (name.equals("why")) { // the last: a build's arguments know no quotes
                options.put(name, String.join(" ", args.subList(i + 1, args.size())));
                return;
            } else if (i + 1 < args.size()) {
                options.put(name, args.get(++i));
            } else {
                throw new IllegalArgumentException("--" + name + " needs a value.");
            }
        }
    }

    String command() {
        return command;
    }

    boolean has(String name) {
        return options.containsKey(name);
    }

    Optional<String> get(String name) {
        return Optional.ofNullable(options.get(name));
    }

    String need(String name) {
        return get(name)
                .orElseThrow(
                        () -> new IllegalArgumentException(command + " needs --" + name + "."));
    }

    int limit() {
        return get("limit").map(Integer::parseInt).orElse(20);
    }

    /** "90s", "30m", "12h" or "7d". */
    Duration duration(String name, Duration otherwise) {
        if (!has(name)) {
            return otherwise;
        }
        String text = need(name);
        if (!text.matches("[0-9]{1,6}[smhd]")) {
            throw new IllegalArgumentException(
                    "--" + name + " is a number and one of s, m, h, d: 90s, 30m, 12h, 7d.");
        }
        long number = Long.parseLong(text.substring(0, text.length() - 1));
        return switch (text.charAt(text.length() - 1)) {
            case 's' -> Duration.ofSeconds(number);
            case 'm' -> Duration.ofMinutes(number);
            case 'h' -> Duration.ofHours(number);
            default -> Duration.ofDays(number);
        };
    }
}
