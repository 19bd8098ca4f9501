package javadoc;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.docs.Harness;
import io.onlyonce.retention.*;
import java.time.Duration;

public class retention extends Harness {

    public void example() throws Exception {
        //> example
        assertThat(retention.runOnce(Duration.ofMinutes(1)).total()).isZero();
        retention.close();
    }
}
