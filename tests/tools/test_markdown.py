"""HTML as Markdown: what people would read of a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.tools.web.html_markdown import to_markdown


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h1>A</h1><p>b <em>c</em> <strong>d</strong></p>", "# A\n\nb *c* **d**"),
        ("<p>one<br>two</p><p>three</p>", "one\ntwo\n\nthree"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c"),
        ("<ol start=3><li>a</li><li>b</li></ol>", "3. a\n4. b"),
        (
            '<a href="/x">link</a> <a href="#top">here</a> <a href="javascript:x()">no</a>',
            "[link](https://s.example/x) here no",
        ),
        ("<pre><code>if x:\n    y  z</code></pre>", "```\nif x:\n    y  z\n```"),
        ("use <code>ls -l</code> now", "use `ls -l` now"),
        ("<blockquote>said</blockquote>after", "> said\n\nafter"),
        (
            "<table><tr><th>a</th><th>b|c</th></tr><tr><td>1</td><td>2</td></tr></table>",
            "| a | b\\|c |\n| --- | --- |\n| 1 | 2 |",
        ),
        ('<img src="i.png" alt="a dog"><img src="x.png">', "![a dog](https://s.example/i.png)"),
        ("<script>bad()</script><style>p{}</style><p>ok</p>", "ok"),
        ("<head><title>T</title><p>text", "# T\n\ntext"),
        ("<title>T &amp; U</title><body>x &lt; y</body>", "# T & U\n\nx < y"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("<p>un<b>closed", "un**closed"),
        ("</p></ul></table></pre>x", "x"),
        ("", ""),
    ],
)
def test_markup_becomes_markdown(html: str, expected: str) -> None:
    assert to_markdown(html, base_url="https://s.example/") == expected


tags = st.sampled_from(
    [
        "p",
        "div",
        "ul",
        "ol",
        "li",
        "a",
        "b",
        "pre",
        "code",
        "table",
        "tr",
        "td",
        "th",
        "blockquote",
        "h1",
        "script",
        "head",
        "title",
        "br",
        "img",
    ]
)
pieces = st.one_of(
    tags.map("<{}>".format), tags.map("</{}>".format), st.text(max_size=5), st.just('<a href="http://[">')
)


@given(st.lists(pieces, max_size=60).map("".join))
def test_no_markup_breaks_the_conversion(html: str) -> None:
    to_markdown(html, base_url="https://s.example/")


def test_a_page_nested_very_deeply_is_no_trouble() -> None:
    assert to_markdown("<div>" * 50_000 + "deep") == "deep"
