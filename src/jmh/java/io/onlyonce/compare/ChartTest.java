package io.onlyonce.compare;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.xml.sax.InputSource;

import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import javax.xml.parsers.DocumentBuilderFactory;

/** Pictures are well-formed, and what they say lies inside the frame. */
class ChartTest {

    @Test
    void a_chart_is_well_formed_and_inside_its_frame() throws Exception {
        var chart =
                new Chart("a < b & c", "less is better")
                        .bar(
                                "OnlyOnce, fail fast, again after 50 ms",
                                new Spread(123.4, 100, 190.5, 5))
                        .bar("nothing", Spread.counted(0, 5))
                        .bar("textbook", new Spread(2, 1.9, 2.1, 5));

        assertInside(chart.svg());
    }

    @Test
    void large_numbers_fit() throws Exception {
        assertInside(
                new Chart("rows", "more is better")
                        .bar("loop, DELETE", new Spread(129_478, 108_904, 150_053, 5))
                        .bar("none", Spread.counted(0, 5))
                        .svg());
    }

    @Test
    void the_pictures_of_the_page_are_well_formed_and_inside_their_frames() throws Exception {
        Path folder = Path.of("docs", "performance");
        if (!Files.isDirectory(folder)) {
            return;
        }
        try (var files = Files.list(folder)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".svg")).toList()) {
                assertInside(Files.readString(file));
            }
        }
    }

    private static void assertInside(String svg) throws Exception {
        Element root =
                DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(new InputSource(new StringReader(svg)))
                        .getDocumentElement();
        List<Double> box =
                List.of(root.getAttribute("viewBox").split(" ")).stream()
                        .map(Double::valueOf)
                        .toList();
        var texts = root.getElementsByTagName("text");
        assertThat(texts.getLength()).isGreaterThan(2);
        for (int i = 0; i < texts.getLength(); i++) {
            var text = (Element) texts.item(i);
            double x = Double.parseDouble(text.getAttribute("x"));
            double y = Double.parseDouble(text.getAttribute("y"));
            double end = x + text.getTextContent().length() * Chart.LETTER;
            assertThat(x).as(text.getTextContent()).isBetween(0.0, box.get(2));
            assertThat(end).as(text.getTextContent()).isLessThan(box.get(2));
            assertThat(y).as(text.getTextContent()).isBetween((double) Chart.FONT, box.get(3));
        }
        var bars = root.getElementsByTagName("rect");
        for (int i = 0; i < bars.getLength(); i++) {
            var bar = (Element) bars.item(i);
            double end =
                    Double.parseDouble(bar.getAttribute("x"))
                            + Double.parseDouble(bar.getAttribute("width"));
            assertThat(end).isLessThan(box.get(2));
        }
    }
}
