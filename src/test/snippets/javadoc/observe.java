package javadoc;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.onlyonce.OnlyOnce;
import io.onlyonce.docs.Harness;
import io.onlyonce.observe.*;
import java.sql.*;
import java.time.Duration;

public class observe extends Harness {

    static class Log {
        String line;

        void info(String line, Object... values) {
            this.line = line.replace("{}", "%s").formatted(values);
        }
    }

    public void example() throws Exception {
        var registry = new SimpleMeterRegistry();
        var log = new Log();
        //> example
        assertThat(log.line).isEqualTo("0 events wait, 0 commands are unresolved");
    }
}
