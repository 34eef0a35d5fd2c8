"""The order of alike texts: complete, the same each time, and with kin next to each other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.csl.likeness import order_by_likeness

NAMES = st.text("abc", min_size=1, max_size=3)
TEXTS = st.lists(st.sampled_from("xyz"), max_size=4).map(
    lambda letters: "\n".join(letter * 20 for letter in letters).encode()
)


@given(st.dictionaries(NAMES, TEXTS))
def test_every_name_is_there_once_in_an_order_of_contents_alone(texts: dict[str, bytes]) -> None:
    ordered = order_by_likeness(texts)
    assert sorted(ordered) == sorted(texts)
    assert order_by_likeness(dict(reversed(texts.items()))) == ordered


def test_texts_that_share_lines_stand_together() -> None:
    families = {"a": b"macro of a journal\n", "b": b"macro of a publisher\n"}
    texts = {
        f"{number}-{family}": line + f"<title>{family}{number}</title>".encode()
        for number in range(6)
        for family, line in families.items()
    }
    ordered = order_by_likeness(texts)
    assert [name[-1] for name in ordered] == ["a"] * 6 + ["b"] * 6
    assert ordered[0] == "0-a"


def test_of_two_that_share_as_much_the_shorter_and_then_the_first_name_comes_next() -> None:
    shared = b"a line that they share\n"
    texts = {
        "a": shared,
        "b": shared + b"another line of b alone\n",
        "d": shared,
        "c": shared,
    }
    assert order_by_likeness(texts) == ["a", "c", "d", "b"]
