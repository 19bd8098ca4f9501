package io.onlyonce.observe;

import io.onlyonce.command.CommandScope;
import io.onlyonce.inbox.Advance;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A listener that remembers what it was told, and first does what a test wants it to. */
final class Told implements OnlyOnceListener {

    final List<ObservedCommand> commands = new CopyOnWriteArrayList<>();
    final List<String> all = new CopyOnWriteArrayList<>();
    private volatile Runnable first = () -> {};

    /** On the thread of each call. */
    void first(Runnable first) {
        this.first = first;
    }

    private void told(String what) {
        all.add(what);
        first.run();
    }

    List<String> allAndForget() {
        List<String> copy = List.copyOf(all);
        all.clear();
        commands.clear();
        return copy;
    }

    @Override
    public void command(ObservedCommand command) {
        commands.add(command);
        told("command " + command.decision());
    }

    @Override
    public void keyBudgetRefused(CommandScope scope) {
        told("refused " + scope.caller());
    }

    @Override
    public void eventsAppended(int appended, int duplicates) {
        told("events " + appended + "+" + duplicates);
    }

    @Override
    public void relayed(ObservedRelay round) {
        told(
                "relayed %d failed %d dead %d"
                        .formatted(round.published(), round.failed(), round.dead()));
    }

    @Override
    public void message(ObservedMessage message) {
        told("message " + message.consumer() + " " + message.decision());
    }

    @Override
    public void versionChecked(String projection, Advance.Kind answer) {
        told("version " + projection + " " + answer);
    }

    @Override
    public void purged(String table, long rows) {
        told("purged " + table + " " + rows);
    }
}
