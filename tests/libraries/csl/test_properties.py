"""What must hold for any CSL-JSON: rendering never fails with anything but our own errors, and
loses no mark-up.
"""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.csl import CitationStyleError, Cite, Cluster, Processor, load_style
from carrel.libraries.csl.date_values import read_text_date
from carrel.libraries.csl.items import DATE_VARIABLES, NUMBER_VARIABLES
from carrel.libraries.csl.numbers import read_numbers
from carrel.libraries.csl.punctuation import resolve_punctuation
from carrel.libraries.csl.schema import NAME_VARIABLES
from carrel.libraries.csl.tokens import GLUE, plain, read_markup

text = st.text(alphabet=st.characters(codec="utf-8"), max_size=30) | st.sampled_from(
    [
        "A “b” c",
        "<i>x</i> y",
        "<i>open",
        "'",
        '"',
        "1-3",
        "²",
        "12–",
        "ibid.",
        "p. 3",
        "٣",
        "\\-",
        "De la",
        "van 't",
        "\u202f: a",
        "I",
        "a\nb",
        "\u202e",
    ]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
name = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        (
            "family",
            "given",
            "literal",
            "suffix",
            "dropping-particle",
            "non-dropping-particle",
            "comma-suffix",
            "parse-names",
        ),
        text,
    ),
)
part = st.integers(-3000, 30000) | text
date = st.fixed_dictionaries(
    {},
    optional={
        "date-parts": st.lists(st.lists(part, max_size=4), max_size=3),
        "raw": text,
        "literal": text,
        "season": text | st.integers(),
        "circa": anything,
    },
)
types = st.sampled_from(
    ["book", "article-journal", "chapter", "webpage", "legal_case", "nothing-we-know", ""]
)
sensible = st.fixed_dictionaries(
    {"id": text, "type": types},
    optional={
        "title": text,
        "container-title": text,
        "author": st.lists(name, max_size=4),
        "editor": st.lists(name, max_size=2),
        "issued": date,
        "accessed": date,
        "page": text,
        "volume": text | st.integers(),
        "edition": text,
        "note": text,
        "language": text,
        "URL": text,
    },
)
fields = st.sampled_from(
    sorted(
        NAME_VARIABLES
        | DATE_VARIABLES
        | NUMBER_VARIABLES
        | {"title", "language", "note", "id", "type"}
    )
)
wild = st.dictionaries(fields, anything, max_size=6)
STYLES = [load_style(style) for style in ("apa", "ieee", "chicago-notes-bibliography", "mla")]


def _render_everything(items: list[dict[str, Any]], style: int) -> None:
    processor = Processor(STYLES[style], items, output="html")
    entries = processor.bibliography()
    assert {entry.id for entry in entries} <= set(processor.order)
    clusters = [
        Cluster([Cite(item, "12-15"), Cite(item)], number)
        for number, item in enumerate(processor.items, 1)
    ]
    assert len(processor.cite(clusters)) == len(clusters)
    for _, runs in processor.bibliography_runs():
        assert all(run.text for run in runs)


@settings(max_examples=50, deadline=None)
@given(st.lists(sensible, max_size=4), st.integers(0, len(STYLES) - 1))
def test_items_with_odd_contents_render(items: list[dict[str, Any]], style: int) -> None:
    _render_everything(items, style)


@settings(max_examples=50, deadline=None)
@given(st.lists(wild, max_size=3), st.integers(0, len(STYLES) - 1))
def test_items_of_any_shape_render_or_are_refused_by_name(
    items: list[dict[str, Any]], style: int
) -> None:
    try:
        _render_everything(items, style)
    except CitationStyleError as refused:
        assert refused.code in {"item_broken", "item_not_found"}


@given(text.filter(lambda field: "<" not in field))
def test_reading_mark_up_changes_nothing_but_quotation_marks_and_spaces_before_signs(
    field: str,
) -> None:
    assert _bare(plain(read_markup(field))) == _bare(field)


def _bare(field: str) -> str:
    return field.translate(str.maketrans("\u202f", " ", "\"'“”‘’"))


@given(text)
def test_numbers_and_dates_are_read_from_any_text(field: str) -> None:
    numbers = read_numbers(field)
    assert len(numbers.texts) == len(numbers.joiners) + 1
    date_read = read_text_date(field)
    assert date_read.literal or date_read.start != (0, 0, 0) or not field.strip()


@given(
    st.lists(st.sampled_from([". ", ", ", "Title", "?", ":", " ", "a;", "!"]), max_size=8),
    st.booleans(),
)
def test_settled_punctuation_stays_settled(pieces: list[str], in_quote: bool) -> None:
    once = resolve_punctuation([*pieces], in_quote)
    assert GLUE not in once
    assert "  " not in plain(once)
    assert ".." not in plain(once)
