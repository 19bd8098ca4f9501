package io.onlyonce.docs;

import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Everything that a user can name: public types of exported packages, and what they offer. */
final class ApiList {

    static final Path FILE = Path.of("docs/api.txt");

    private static final int HIDDEN = 0x1000; // synthetic

    private ApiList() {}

    public static void main(String[] args) throws Exception {
        Files.write(FILE, lines());
    }

    static List<String> lines() throws Exception {
        Path classes =
                Path.of(
                        Class.forName("io.onlyonce.OnlyOnce")
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .toURI());
        List<String> lines = new ArrayList<>();
        for (String name : exportedTypes(classes)) {
            Class<?> type = Class.forName(name, false, ApiList.class.getClassLoader());
            if (isVisible(type)) {
                lines.add((lines.isEmpty() ? "" : "\n") + header(type));
                members(type).forEach(member -> lines.add("    " + member));
            }
        }
        return lines;
    }

    private static List<String> exportedTypes(Path classes) throws IOException {
        ModuleDescriptor module;
        try (InputStream in = Files.newInputStream(classes.resolve("module-info.class"))) {
            module = ModuleDescriptor.read(in);
        }
        List<String> names = new ArrayList<>();
        for (String exported :
                module.exports().stream().map(ModuleDescriptor.Exports::source).sorted().toList()) {
            try (Stream<Path> files = Files.list(classes.resolve(exported.replace('.', '/')))) {
                files.map(file -> file.getFileName().toString())
                        .filter(file -> file.endsWith(".class") && !file.startsWith("package-"))
                        .map(file -> exported + "." + file.replace(".class", ""))
                        .sorted()
                        .forEach(names::add);
            }
        }
        return names;
    }

    private static boolean isVisible(Class<?> type) {
        return !type.isAnonymousClass()
                && !type.isLocalClass()
                && Modifier.isPublic(type.getModifiers())
                && (type.getDeclaringClass() == null || isVisible(type.getDeclaringClass()));
    }

    private static String header(Class<?> type) {
        String kind =
                type.isRecord()
                        ? "record"
                        : type.isEnum() ? "enum" : type.isInterface() ? "interface" : "class";
        List<String> above =
                Stream.concat(
                                Stream.ofNullable(type.getGenericSuperclass()),
                                Arrays.stream(type.getGenericInterfaces()))
                        .map(ApiList::name)
                        .filter(n -> !n.matches("Object|Record|Enum<.*>"))
                        .toList();
        int modifiers = type.getModifiers();
        String openness =
                type.isSealed()
                        ? "sealed "
                        : Modifier.isAbstract(modifiers) && !type.isInterface()
                                ? "abstract "
                                : Modifier.isFinal(modifiers) && kind.equals("class")
                                        ? "final "
                                        : "";
        return openness
                + kind
                + " "
                + type.getName().replace('$', '.')
                + variables(type.getTypeParameters())
                + (above.isEmpty() ? "" : " : " + String.join(", ", above));
    }

    private static List<String> members(Class<?> type) {
        return Stream.of(
                        Arrays.stream(type.getDeclaredFields())
                                .filter(f -> shown(f))
                                .map(ApiList::of),
                        Arrays.stream(type.getDeclaredConstructors())
                                .filter(c -> shown(c))
                                .map(ApiList::of),
                        Arrays.stream(type.getDeclaredMethods())
                                .filter(m -> shown(m) && !isWiring(m) && !isObjects(m))
                                .map(ApiList::of))
                .flatMap(s -> s.sorted())
                .toList();
    }

    private static boolean shown(Member member) {
        int modifiers = member.getModifiers();
        return (modifiers & HIDDEN) == 0
                && (Modifier.isPublic(modifiers)
                        || Modifier.isProtected(modifiers)
                                && !Modifier.isFinal(member.getDeclaringClass().getModifiers()));
    }

    /** What only the library itself can call, because its arguments have no name outside. */
    private static boolean isWiring(Executable executable) {
        return Arrays.stream(executable.getParameterTypes())
                .anyMatch(type -> type.getPackageName().equals("io.onlyonce.sql"));
    }

    private static boolean isObjects(Method method) {
        return List.of("equals", "hashCode", "toString").contains(method.getName())
                || method.getDeclaringClass().isEnum()
                        && List.of("values", "valueOf").contains(method.getName());
    }

    private static String of(Field field) {
        return field.isEnumConstant()
                ? field.getName()
                : prefix(field) + name(field.getGenericType()) + " " + field.getName();
    }

    private static String of(Constructor<?> constructor) {
        return "new" + signature(constructor);
    }

    private static String of(Method method) {
        String variables = variables(method.getTypeParameters());
        return prefix(method)
                + (method.isDefault() ? "default " : "")
                + (variables.isEmpty() ? "" : variables + " ")
                + name(method.getGenericReturnType())
                + " "
                + method.getName()
                + signature(method);
    }

    private static String prefix(Member member) {
        int modifiers = member.getModifiers();
        return (Modifier.isProtected(modifiers) ? "protected " : "")
                + (Modifier.isStatic(modifiers) ? "static " : "");
    }

    private static String signature(Executable executable) {
        String parameters =
                Arrays.stream(executable.getParameters())
                        .map(Parameter::getParameterizedType)
                        .map(ApiList::name)
                        .collect(Collectors.joining(", ", "(", ")"));
        String thrown =
                Arrays.stream(executable.getGenericExceptionTypes())
                        .map(ApiList::name)
                        .collect(Collectors.joining(", "));
        return parameters + (thrown.isEmpty() ? "" : " throws " + thrown);
    }

    private static String variables(TypeVariable<?>[] variables) {
        return variables.length == 0
                ? ""
                : Arrays.stream(variables)
                        .map(ApiList::variable)
                        .collect(Collectors.joining(", ", "<", ">"));
    }

    private static String variable(TypeVariable<?> variable) {
        String bound = name(variable.getBounds()[0]);
        return variable.getName() + (bound.equals("Object") ? "" : " extends " + bound);
    }

    /** Without packages: no two types of ours share a name. */
    private static String name(Type type) {
        return type.getTypeName().replaceAll("\\b[a-z][a-z0-9]*\\.", "").replace('$', '.');
    }
}
