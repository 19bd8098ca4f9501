package io.onlyonce.payload;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;

/**
 * The full type of a result, generics included: {@code ResultType.of(Approval.class)}, or {@code
 * new ResultType<List<Approval>>() {}} with the braces, which is what keeps {@code List<Approval>}
 * at run time.
 *
 * <p>A type of ours rather than Jackson's TypeReference, so that a codec for another format sees no
 * Jackson. Immutable; equal if the types are.
 */
public abstract class ResultType<T> {

    private final Type type;

    /** Takes the type from between the angle brackets of the subclass. */
    protected ResultType() {
        if (!(getClass().getGenericSuperclass() instanceof ParameterizedType self)
                || self.getRawType() != ResultType.class) {
            throw new IllegalArgumentException(
                    "Name the type when making a ResultType: new ResultType<List<Receipt>>() {}");
        }
        this.type = self.getActualTypeArguments()[0];
        refuseVariables(type);
    }

    private ResultType(Class<T> type) {
        this.type = type;
    }

    /** The type of a class without type parameters. */
    public static <T> ResultType<T> of(Class<T> type) {
        return new OfClass<>(type);
    }

    /** The type, as reflection describes it. */
    public final Type type() {
        return type;
    }

    /** The class behind the type, without its type arguments. */
    public final Class<?> rawClass() {
        return rawClass(type);
    }

    /** A variable anywhere inside would be read back as something else than what was stored. */
    private static void refuseVariables(Type type) {
        if (type instanceof ParameterizedType generic) {
            for (Type argument : generic.getActualTypeArguments()) {
                refuseVariables(argument);
            }
        } else if (type instanceof GenericArrayType array) {
            refuseVariables(array.getGenericComponentType());
        } else if (type instanceof WildcardType wildcard) {
            refuseVariables(wildcard.getUpperBounds()[0]);
        } else if (type instanceof TypeVariable) {
            throw new IllegalArgumentException(
                    "A result type must be known where it is written; "
                            + type
                            + " is a type variable");
        }
    }

    private static Class<?> rawClass(Type type) {
        if (type instanceof Class<?> plain) {
            return plain;
        }
        if (type instanceof ParameterizedType generic) {
            return rawClass(generic.getRawType());
        }
        var array = (GenericArrayType) type; // nothing else has passed the constructor
        return rawClass(array.getGenericComponentType()).arrayType();
    }

    @Override
    public final boolean equals(Object other) {
        return other instanceof ResultType<?> that && type.equals(that.type);
    }

    @Override
    public final int hashCode() {
        return type.hashCode();
    }

    /** The name of the type. */
    @Override
    public final String toString() {
        return type.getTypeName();
    }

    private static final class OfClass<T> extends ResultType<T> {
        OfClass(Class<T> type) {
            super(type);
        }
    }
}
