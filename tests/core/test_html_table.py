"""HTML tables: text is escaped, numbers have three digits."""

from __future__ import annotations

from warplens.core.html_table import html_table, three_digits


def test_text_of_a_table_is_escaped() -> None:
    table = html_table(("a<b>", "n"), [("<script>", 1)], 'one & "two"')
    assert table == (
        "<table><caption>one &amp; &quot;two&quot;</caption><tr><th>a&lt;b&gt;</th><th>n</th></tr>"
        "<tr><td>&lt;script&gt;</td><td>1</td></tr></table>"
    )


def test_numbers_have_three_digits_and_no_exponent() -> None:
    assert [three_digits(n) for n in (0.12345, 9.996, 99.94, 99.96, 1234567.8)] == [
        "0.123", "10", "99.9", "100", "1,234,568",
    ]  # fmt: skip
