"""The list of a library's elements is as a plain one after any changes, and shares what stays."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from carrel.stores.csl_json.chunked_list import ChunkedList, common_ends
from carrel.stores.csl_json.document import LibraryDocument
from carrel.stores.csl_json.element_places import ElementPlaces
from carrel.stores.csl_json.library_entry import LibraryEntry

_SIZES = st.sampled_from([0, 1, 5, 511, 512, 513, 1024, 1500])


@st.composite
def _changed(draw: st.DrawFn) -> tuple[ChunkedList[object], ChunkedList[object], list[object]]:
    """A list, another made of it by some splices, and what the other should hold."""
    plain: list[object] = [object() for _ in range(draw(_SIZES))]
    before = after = ChunkedList(plain)
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(plain)))
        removed = draw(st.integers(0, min(600, len(plain) - at)))
        added = [object() for _ in range(draw(st.sampled_from([0, 1, 2, 600])))]
        after = after.splice(at, removed, added)
        plain[at : at + removed] = added
    return before, after, plain


@given(_changed(), st.data())
def test_a_chunked_list_is_a_plain_one(
    change: tuple[ChunkedList[object], ChunkedList[object], list[object]], data: st.DataObject
) -> None:
    _, after, plain = change
    assert (len(after), list(after), list(reversed(after))) == (len(plain), plain, plain[::-1])
    assert after == tuple(plain)
    assert after == ChunkedList(plain)
    for at in range(-len(plain), len(plain), 97):
        assert after[at] is plain[at]
    bound = st.integers(-len(plain) - 2, len(plain) + 2)
    start, stop = data.draw(bound), data.draw(bound)
    step = data.draw(st.sampled_from([1, 1, 2, -1, -3]))
    assert list(after[start:stop:step]) == plain[start:stop:step]


@given(_changed())
def test_common_ends_are_those_of_plain_lists(
    change: tuple[ChunkedList[object], ChunkedList[object], list[object]],
) -> None:
    before, after, plain = change
    first = _count_same(list(before), plain)
    last = _count_same(list(before)[first:][::-1], plain[first:][::-1])
    limit = min(len(before), len(after))
    assert before.count_common_start(after, limit) == first
    assert before.count_common_end(after, limit - first) == last
    again = ChunkedList(plain)
    assert after.count_common_start(again, len(plain)) == len(plain), "also in other chunks"


def _count_same(one: list[object], other: list[object]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a is not b), min(len(one), len(other)))


def test_what_an_addition_does_not_touch_is_shared() -> None:
    before = ChunkedList(range(5_000))
    after = before.splice(5_000, 0, [5_000])
    shared = [chunk for chunk in after._chunks if any(chunk is one for one in before._chunks)]
    assert len(shared) == len(before._chunks) - 1


@given(st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=4), max_size=12))
def test_places_are_those_of_the_first_of_each_id(additions: list[list[str]]) -> None:
    places, expected, reached = ElementPlaces({}), dict[str, int](), 0
    for added in additions:
        places = places.with_added((one, reached + at) for at, one in enumerate(added))
        for at, one in enumerate(added):
            expected.setdefault(one, reached + at)
        reached += len(added)
    assert dict(places) == expected
    assert len(places) == len(expected)


def test_many_additions_keep_their_places() -> None:
    document = LibraryDocument()
    for number in range(2_500):
        document = document.with_entries_added([LibraryEntry("\n  ", f'{{"id": "key-{number}"}}')])
    assert [document.place(f"key-{number}") for number in range(2_500)] == list(range(2_500))
    assert LibraryDocument.parse(document.data).entries == document.entries


def test_an_id_that_comes_again_is_found_at_its_first_place() -> None:
    document = LibraryDocument().with_added([{"id": "a"}, {"id": "b"}])
    twice = document.with_added([{"id": "a", "title": "later"}])
    assert twice.place("a") == 0
    assert not twice.has_only_items
    assert twice.without("a").place("a") == 1
    first, last = common_ends(document.entries, twice.entries)
    assert (first, last) == (2, 0)
