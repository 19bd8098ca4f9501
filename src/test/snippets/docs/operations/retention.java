package docs.operations;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.docs.Harness;
import io.onlyonce.retention.*;
import java.time.Duration;

public class retention extends Harness {

    public void nothing_is_due() throws Exception {
        //> Retention
        retention.close();
        assertThat(report.total()).isZero();
    }
}
