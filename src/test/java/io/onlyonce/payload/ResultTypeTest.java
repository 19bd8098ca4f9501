package io.onlyonce.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

class ResultTypeTest {

    @Test
    void a_token_keeps_its_type_arguments() {
        var lists = new ResultType<List<String>>() {};
        assertThat(lists).hasToString("java.util.List<java.lang.String>");
        assertThat(lists.rawClass()).isEqualTo(List.class);
        assertThat(lists.type().getTypeName()).isEqualTo("java.util.List<java.lang.String>");
        assertThat(new ResultType<List<String>[]>() {}.rawClass()).isEqualTo(List[].class);
    }

    @Test
    void tokens_are_equal_if_their_types_are() {
        assertThat(new ResultType<List<String>>() {})
                .isEqualTo(new ResultType<List<String>>() {})
                .hasSameHashCodeAs(new ResultType<List<String>>() {})
                .isNotEqualTo(new ResultType<List<Integer>>() {})
                .isNotEqualTo("java.util.List<java.lang.String>");
        assertThat(new ResultType<String>() {}).isEqualTo(ResultType.of(String.class));
        assertThat(ResultType.of(String.class).hashCode())
                .isNotEqualTo(ResultType.of(Integer.class).hashCode());
    }

    @Test
    @SuppressWarnings("rawtypes")
    void a_type_that_is_not_known_is_refused_with_the_way_out() {
        assertThatThrownBy(() -> new ResultType() {})
                .hasMessageContaining("new ResultType<List<Receipt>>() {}");
        assertThatThrownBy(ResultTypeTest::<String>generic)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("type variable");
        class Middle<T> extends ResultType<List<String>> {}
        assertThatThrownBy(() -> new Middle<Integer>() {})
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_type_variable_inside_is_refused_too() {
        assertThatThrownBy(ResultTypeTest::<String>list)
                .hasMessageContaining("T is a type variable");
        assertThatThrownBy(ResultTypeTest::<String>arrays)
                .hasMessageContaining("T is a type variable");
        assertThatThrownBy(ResultTypeTest::<String>bounded)
                .hasMessageContaining("T is a type variable");
        assertThat(new ResultType<List<? extends Number>>() {}.rawClass()).isEqualTo(List.class);
        assertThat(new ResultType<List<?>>() {}).hasToString("java.util.List<?>");
    }

    private static <T> ResultType<Map<String, List<T>>> list() {
        return new ResultType<Map<String, List<T>>>() {};
    }

    private static <T> ResultType<List<T[]>> arrays() {
        return new ResultType<List<T[]>>() {};
    }

    private static <T> ResultType<List<? extends T>> bounded() {
        return new ResultType<List<? extends T>>() {};
    }

    private static <T> ResultType<T> generic() {
        return new ResultType<T>() {};
    }
}
