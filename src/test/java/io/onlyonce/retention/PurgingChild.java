package io.onlyonce.retention;

import io.onlyonce.ground.Checkpoint;
import io.onlyonce.ground.DataSources;

/** A process that purges and archives, and stands still after every chunk. */
public final class PurgingChild {

    private PurgingChild() {}

    public static void main(String[] args) throws Exception {
        var dataSource = DataSources.unpooled(args[0], args[1], args[2]);
        Attic.once(dataSource)
                .retention(RetentionOptions.standard().archivingAll())
                .runOnce(
                        Attic.LONG,
                        progress -> {
                            try {
                                Checkpoint.reached("chunk");
                            } catch (InterruptedException e) {
                                throw new IllegalStateException(e);
                            }
                        });
        System.out.println("done");
    }
}
