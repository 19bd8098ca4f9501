package io.onlyonce.payload;

import static io.onlyonce.payload.CanonicalJsonRefusalTest.assertReason;
import static io.onlyonce.payload.InvalidPayloadException.Reason.*;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonSerializable;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.jsontype.TypeSerializer;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/** What ends in a refusal rather than in a long wait or a full heap. */
class PayloadHashLimitTest {

    public record Node(String name, List<Object> children) {}

    public static final class Link {
        public Link next;
    }

    interface Step {
        void run() throws IOException;
    }

    interface Writing {
        void write(JsonGenerator json) throws IOException;
    }

    /** Writes the same start until it is stopped, well below Jackson's own limit. */
    private static JsonSerializable written(Writing start) {
        return new JsonSerializable.Base() {
            @Override
            public void serialize(JsonGenerator json, SerializerProvider provider)
                    throws IOException {
                for (int i = 0; i < 300; i++) {
                    start.write(json);
                }
                throw new AssertionError("was not stopped");
            }

            @Override
            public void serializeWithType(
                    JsonGenerator json, SerializerProvider provider, TypeSerializer type) {
                throw new AssertionError("has no type");
            }
        };
    }

    private static void object(JsonGenerator json, Step start) throws IOException {
        start.run();
        json.writeFieldName("a");
    }

    @Test
    void limits_hold_while_writing() {
        assertReason(
                () -> PayloadHash.ofJson(BigInteger.ONE.shiftLeft(40_000_000)), TOO_MANY_DIGITS);
        assertReason(
                () -> PayloadHash.ofJson(new BigDecimal(BigInteger.ONE.shiftLeft(40_000_000))),
                TOO_MANY_DIGITS);
        assertReason(() -> PayloadHash.ofJson(BigInteger.TEN.pow(1_000)), TOO_MANY_DIGITS);
        assertSame(BigInteger.TEN.pow(999), "1e999");
        assertSame(new BigDecimal(BigInteger.TEN.pow(999)).negate(), "-1e999");
        assertReason(() -> PayloadHash.ofJson(new BigDecimal("1e1000000000")), EXPONENT_TOO_LARGE);
        assertReason(() -> PayloadHash.ofJson(List.of("x".repeat(1_048_577))), TOO_LARGE);
        assertReason(() -> PayloadHash.ofJson(List.of("\ud800")), LONE_SURROGATE);
        assertReason(() -> PayloadHash.ofJson(Map.of(1, 1, "1", 1)), DUPLICATE_KEY);
    }

    @Test
    void depth_is_counted_through_objects_arrays_sets_and_trees() {
        Object list = 1;
        Object set = 1;
        Object map = 1;
        var tree = JsonNodeFactory.instance.arrayNode();
        for (int i = 0; i < 200; i++) {
            list = Arrays.asList(list);
            set = Set.of(set);
            map = Map.of("a", map);
        }
        Object array = new Object[] {list};
        assertSame(list, "[".repeat(200) + 1 + "]".repeat(200));
        assertSame(set, "[".repeat(200) + 1 + "]".repeat(200));
        assertSame(map, "{\"a\":".repeat(200) + 1 + "}".repeat(200));
        for (Object tooDeep :
                new Object[] {
                    List.of(list), List.of(set), Set.of(set), Set.of(list), Map.of("a", map), array
                }) {
            assertReason(() -> PayloadHash.ofJson(tooDeep), TOO_DEEP);
        }
        var inner = tree;
        for (int i = 0; i < 100_000; i++) {
            inner = inner.addArray();
        }
        assertReason(() -> PayloadHash.ofJson(tree), TOO_DEEP);
    }

    @Test
    void cycles_end_at_a_limit() {
        var one = new Node("n", new ArrayList<>());
        one.children().add(one);
        assertReason(() -> PayloadHash.ofJson(one), TOO_DEEP);
        var two = new Node("n".repeat(1_000), new ArrayList<>());
        two.children().add("x");
        two.children().add(two);
        two.children().add(two);
        assertReason(() -> PayloadHash.ofJson(two), TOO_DEEP);
        var viaSet = new LinkedHashMap<String, Object>();
        viaSet.put(
                "set",
                Collections.singleton(
                        new Object() {
                            public Object getBack() {
                                return viaSet;
                            }
                        }));
        assertReason(() -> PayloadHash.ofJson(viaSet), TOO_DEEP);
    }

    @Test
    void cycles_through_maps_and_beans_end_at_a_limit() {
        var one = new LinkedHashMap<String, Object>();
        one.put("two", Map.of("one", one));
        assertReason(() -> PayloadHash.ofJson(one), TOO_DEEP);
        var a = new Link();
        a.next = new Link();
        a.next.next = a;
        assertReason(() -> PayloadHash.ofJson(a), TOO_DEEP);
    }

    @Test
    void an_endless_payload_ends_at_the_size_limit() {
        Iterable<String> endless = () -> Stream.generate(() -> "x".repeat(1_000)).iterator();
        assertReason(() -> PayloadHash.ofJson(endless), TOO_LARGE);
        assertSame(List.of("x".repeat(1_048_572)), "[\"" + "x".repeat(1_048_572) + "\"]");
        assertReason(() -> PayloadHash.ofJson(List.of("x".repeat(1_048_573))), TOO_LARGE);
    }

    @Test
    void serializers_of_the_users_own_are_held_to_the_depth_too() {
        assertReason(() -> PayloadHash.ofJson(written(g -> g.writeStartArray())), TOO_DEEP);
        assertReason(() -> PayloadHash.ofJson(written(g -> g.writeStartArray("for"))), TOO_DEEP);
        assertReason(() -> PayloadHash.ofJson(written(g -> g.writeStartArray("for", 1))), TOO_DEEP);
        assertReason(
                () -> PayloadHash.ofJson(written(g -> object(g, () -> g.writeStartObject()))),
                TOO_DEEP);
        assertReason(
                () -> PayloadHash.ofJson(written(g -> object(g, () -> g.writeStartObject("for")))),
                TOO_DEEP);
        assertReason(
                () ->
                        PayloadHash.ofJson(
                                written(g -> object(g, () -> g.writeStartObject("for", 1)))),
                TOO_DEEP);
        assertReason(
                () ->
                        PayloadHash.ofJson(
                                written(
                                        g -> {
                                            throw new IOException("secret");
                                        })),
                NOT_SERIALIZABLE);
    }

    @Test
    void references_around_in_a_circle_end_at_a_limit() {
        var one = new AtomicReference<Object>();
        one.set(Optional.of(one));
        assertReason(() -> PayloadHash.ofJson(one), TOO_DEEP);
        assertReason(() -> PayloadHash.ofJson(List.of(one)), TOO_DEEP);
    }

    @Test
    void the_deepest_depth_that_can_be_set_is_refused_by_its_name() {
        var limits = JsonLimits.DEFAULTS.withDepth(1_000);
        Object list = 1;
        Object map = 1;
        for (int i = 0; i < 1_000; i++) {
            list = Arrays.asList(list);
            map = Map.of("a", map);
        }
        Object deepList = list;
        Object deepMap = map;
        assertThat(PayloadHash.ofJson(list, limits))
                .isEqualTo(PayloadHash.ofJson("[".repeat(1_000) + 1 + "]".repeat(1_000), limits));
        assertReason(() -> PayloadHash.ofJson(List.of(deepList), limits), TOO_DEEP);
        assertReason(() -> PayloadHash.ofJson(Map.of("a", deepMap), limits), TOO_DEEP);
    }

    private static void assertSame(Object value, String json) {
        assertThat(PayloadHash.ofJson(value)).isEqualTo(PayloadHash.ofJson(json));
    }
}
