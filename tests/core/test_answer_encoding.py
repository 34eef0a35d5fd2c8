"""Flat answers are encoded by a shorter way, with the same bytes."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, PlainSerializer, TypeAdapter, computed_field, field_serializer

from carrel.core.answer_encoding import encode_answer, is_flat
from carrel.core.operation import Answer
from carrel.rooms.papers.models import FacetCount


class Flat(Answer):
    text: str
    number: int = Field(default=0, ge=0)
    is_so: bool = False
    note: str | None = None


class Longer(Flat):
    more: str = ""


class Nested(Answer):
    inner: Flat


class Named(Answer):
    text: str = Field(alias="theText")


class Left(Answer):
    text: str = Field(default="", exclude=True)


class LeftIf(Answer):
    text: str = Field(default="", exclude_if=lambda text: not text)


class Real(Answer):
    number: float


class Computed(Answer):
    text: str

    @computed_field
    def twice(self) -> str:
        return self.text * 2


class Kept(Answer):
    text: str

    @cached_property
    def length(self) -> int:
        return len(self.text)


class Shown(Answer):
    text: str

    @field_serializer("text")
    def shown(self, text: str) -> str:
        return text.upper()


class Marked(Answer):
    text: Annotated[str, PlainSerializer(lambda text: text.upper())]


class Chosen(Answer):
    choice: Literal["a", "b"]


def test_only_models_of_plain_fields_are_flat() -> None:
    assert [model for model in (Flat, Longer, FacetCount) if not is_flat(model)] == []
    others = (Nested, Named, Left, LeftIf, Real, Computed, Kept, Shown, Marked, Chosen)
    assert [model for model in others if is_flat(model)] == []


TEXTS = [
    "",
    "plain",
    'quoted " and \\ and /',
    "".join(chr(code) for code in range(0x100)),
    "\u2028\u2029\ufeff\uffff\U0001f600\U0010ffff ä",
    "<script>&amp;</script>",
]


@pytest.mark.parametrize("answer_type", [Flat, Longer, Left, LeftIf, Shown, Marked, Kept])
def test_the_bytes_are_those_of_pydantic(answer_type: Any) -> None:
    rows = [answer_type(text=text) for text in TEXTS]
    for given in (rows, rows[:1], []):
        expected = TypeAdapter(list[answer_type]).dump_json(given, by_alias=True)
        assert encode_answer(list[answer_type], given) == expected


def test_numbers_beyond_64_bits_and_half_pairs_are_encoded_as_before() -> None:
    large = [Flat(text="x", number=2**70), Flat(text="y", is_so=True, note="z")]
    expected = TypeAdapter(list[Flat]).dump_json(large, by_alias=True)
    assert encode_answer(list[Flat], large) == expected
    halves = encode_answer(list[Flat], [Flat(text="a\ud800b"), Flat(text="c")])
    assert [row["text"] for row in TypeAdapter(Any).validate_json(halves)] == ["a\ufffdb", "c"]


def test_rows_of_a_longer_model_show_what_was_promised() -> None:
    rows = [Flat(text="a"), Longer(text="b", more="c")]
    assert b"more" not in encode_answer(list[Flat], rows)
