package io.onlyonce.command;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Decides at every fork of a schedule which way it goes. {@link #all} goes every way once: run a
 * schedule to its end, then {@link #advance} to the next one.
 */
abstract class ScheduleChoices {

    /** One of so many ways, from 0 on. */
    abstract int pick(int ways);

    static All all() {
        return new All();
    }

    static ScheduleChoices random(Random random) {
        return new ScheduleChoices() {
            @Override
            int pick(int ways) {
                return random.nextInt(ways);
            }
        };
    }

    /** Depth first: repeats the way of before up to its last fork with a way not yet gone. */
    static final class All extends ScheduleChoices {

        private record Fork(int taken, int ways) {}

        private final List<Fork> path = new ArrayList<>();
        private int position;

        @Override
        int pick(int ways) {
            if (position == path.size()) {
                path.add(new Fork(0, ways));
            }
            Fork fork = path.get(position++);
            if (fork.ways() != ways) {
                throw new AssertionError(
                        "the same steps led to %d ways, and now to %d: the schedule does not repeat"
                                .formatted(fork.ways(), ways));
            }
            return fork.taken();
        }

        /** False if every way has been gone. */
        boolean advance() {
            if (position != path.size()) {
                throw new AssertionError("the schedule ended earlier than the one it repeats");
            }
            position = 0;
            while (!path.isEmpty()) {
                Fork last = path.remove(path.size() - 1);
                if (last.taken() + 1 < last.ways()) {
                    path.add(new Fork(last.taken() + 1, last.ways()));
                    return true;
                }
            }
            return false;
        }
    }
}
