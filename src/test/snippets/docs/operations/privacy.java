package docs.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.command.*;
import io.onlyonce.docs.Harness;
import io.onlyonce.payload.*;
import java.time.Duration;
import java.util.Map;

public class privacy extends Harness {

    public record Card(String number, String secret) {
        Card withoutSecret() {
            return new Card(number, "");
        }
    }

    private static Command command(String id) {
        return Command.of(new CommandScope("acme", "ui", "card.issue"), id, PayloadHash.ofJson("{}"));
    }

    public void encrypted() throws Exception {
        byte[] newKey = new byte[32], oldKey = new byte[32];
        oldKey[0] = 1;
        //> Encrypted results
        once.commands().run(command("c-1"), String.class, work -> "hidden");
        assertThat(once.commands().run(command("c-1"), String.class, work -> "again").value()).isEqualTo("hidden");
        assertThat(db.count("SELECT position('hidden'::bytea IN result) FROM onlyonce.command_dedup WHERE command_id = 'c-1'")).isZero();
    }

    public void minimised() throws Exception {
        //> Minimised results
        var less = OnlyOnce.on(dataSource).withTtl(Duration.ofDays(7)).withCodec(codec).build();
        assertThat(less.commands().run(command("c-2"), Card.class, work -> new Card("1", "2")).value()).isEqualTo(new Card("1", "2"));
        assertThat(less.commands().run(command("c-2"), Card.class, work -> new Card("1", "2")).value()).isEqualTo(new Card("1", ""));
    }

    public void budget() throws Exception {
        //> Key budget
        assertThat(once.commands().run(command("c-3"), String.class, work -> "done").value()).isEqualTo("done");
        var strict = OnlyOnce.on(dataSource).withTtl(Duration.ofDays(7)).withKeyBudget(1, Duration.ofDays(1)).build();
        strict.commands().run(command("c-4"), String.class, work -> "done");
        assertThatThrownBy(() -> strict.commands().run(command("c-5"), String.class, work -> "done"))
                .isInstanceOf(KeyBudgetExceededException.class);
    }
}
