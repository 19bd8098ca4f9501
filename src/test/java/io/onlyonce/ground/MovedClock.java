package io.onlyonce.ground;

import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.utility.OpenedClassReader;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/**
 * An agent in whose JVM it is a day later than everywhere else: for the library, the driver and the
 * JDK itself, whichever way they ask for the time of day. Durations are what they are.
 */
public final class MovedClock {

    private static final long DAY = 86_400_000;

    /** What tells the time of day, and by how much its answer is moved. */
    private static final Map<String, Long> CLOCKS =
            Map.of(
                    "java/lang/System.currentTimeMillis",
                    DAY,
                    "jdk/internal/misc/VM.getNanoTimeAdjustment",
                    DAY * 1_000_000);

    private MovedClock() {}

    /** Called by the JVM. */
    public static void premain(String arguments, Instrumentation jvm)
            throws UnmodifiableClassException {
        jvm.addTransformer(
                new ClassFileTransformer() {
                    @Override
                    public byte @Nullable [] transform(
                            ClassLoader loader,
                            String name,
                            Class<?> redefined,
                            ProtectionDomain domain,
                            byte[] code) {
                        return moved(code);
                    }
                },
                true);
        for (Class<?> loaded : jvm.getAllLoadedClasses()) {
            if (jvm.isModifiableClass(loaded)) {
                jvm.retransformClasses(loaded);
            }
        }
    }

    /** A jar to be given to {@code -javaagent}; the class itself comes from the class path. */
    static Path agent() throws IOException {
        var manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", MovedClock.class.getName());
        manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
        Path jar = Files.createTempFile("moved-clock", ".jar");
        jar.toFile().deleteOnExit();
        new JarOutputStream(Files.newOutputStream(jar), manifest).close();
        return jar;
    }

    /** Null if nothing in it asks for the time of day. */
    private static byte @Nullable [] moved(byte[] code) {
        var reader = OpenedClassReader.of(code);
        var writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        var mover = new Mover(writer);
        reader.accept(mover, 0);
        return mover.found ? writer.toByteArray() : null;
    }

    private static final class Mover extends ClassVisitor {

        private boolean found;

        Mover(ClassWriter writer) {
            super(OpenedClassReader.ASM_API, writer);
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String type, String signature, String[] exceptions) {
            var inner = super.visitMethod(access, name, type, signature, exceptions);
            return new MethodVisitor(OpenedClassReader.ASM_API, inner) {
                @Override
                public void visitMethodInsn(
                        int opcode, String owner, String method, String kind, boolean isInterface) {
                    super.visitMethodInsn(opcode, owner, method, kind, isInterface);
                    Long by = CLOCKS.get(owner + "." + method);
                    if (by != null) {
                        found = true;
                        super.visitLdcInsn(by);
                        super.visitInsn(Opcodes.LADD);
                    }
                }
            };
        }
    }
}
