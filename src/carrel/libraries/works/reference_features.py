"""What the tagger of printed references sees of each token: its form, neighbours and place."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]|_")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d[a-z]?")
_OPENING = frozenset("“„«\"‘'")
_BREAKS = frozenset('.,;:()[]“”„«»"?!')
# A segment with so many words in small letters is no list of names.
_WORDS_OF_A_PHRASE = 3
_LONG_SEGMENT = 4


@dataclass(frozen=True, slots=True)
class ReferenceToken:
    """A word, number or mark of an entry and where it stands in the text."""

    text: str
    start: int
    end: int


@dataclass(slots=True)
class _Segment:
    """Tokens between two marks."""

    first: int
    last: int
    before: str = ""
    after: str = ""
    words: int = 0
    small: int = 0
    numbers: int = 0


def split_tokens(text: str) -> list[ReferenceToken]:
    """Words, numbers and single marks."""
    return [
        ReferenceToken(found.group(), found.start(), found.end()) for found in _TOKEN.finditer(text)
    ]


def describe_tokens(tokens: list[ReferenceToken]) -> list[list[str]]:
    """The features of every token, as names under which the model has weights."""
    words = [token.text.lower() for token in tokens]
    shapes = [_shape(token.text) for token in tokens]
    segments = _cut_segments(tokens, shapes)
    style = _style(tokens, shapes, segments)
    places = _places(tokens, segments)
    edge = ["<s>", "<s>"]
    around_words = [*edge, *words, *edge]
    around_shapes = [*edge, *shapes, *edge]
    quotes = _quote_depths(tokens)
    return [
        [
            "bias",
            *_word_features(around_words, around_shapes, number + 2),
            f"q={quotes[number]}",
            f"q={quotes[number]}|{style}",
            *places[number],
            *(f"{place}|{style}" for place in places[number][:3]),
            f"glued={number > 0 and tokens[number - 1].end == tokens[number].start}",
        ]
        for number in range(len(tokens))
    ]


def _word_features(words: list[str], shapes: list[str], at: int) -> list[str]:
    before, here, after = words[at - 1], words[at], words[at + 1]
    return [
        f"w={here}",
        f"w-1={before}",
        f"w+1={after}",
        f"w-2={words[at - 2]}",
        f"w+2={words[at + 2]}",
        f"w-1,0={before}|{here}",
        f"w0,1={here}|{after}",
        f"s={shapes[at]}",
        f"s-1,0={shapes[at - 1]}|{shapes[at]}",
        f"s0,1={shapes[at]}|{shapes[at + 1]}",
        f"s-1,0,1={shapes[at - 1]}|{shapes[at]}|{shapes[at + 1]}",
        f"s-2,-1,0={shapes[at - 2]}|{shapes[at - 1]}|{shapes[at]}",
        f"s0,1,2={shapes[at]}|{shapes[at + 1]}|{shapes[at + 2]}",
    ]


def _shape(text: str) -> str:
    """`Xx` for a capitalised word, `9999` for a year, the mark itself for a mark."""
    if text.isdigit():
        return "year" if _YEAR.fullmatch(text) else "9" * min(len(text), 5)
    if not text[0].isalnum():
        return text
    if any(letter.isdigit() for letter in text):
        return "yeara" if _YEAR.fullmatch(text) else "x9"
    if text.isupper():
        return "X" * min(len(text), 4)
    if text[0].isupper():
        return "Xx" if text[1:].islower() else "XxX"
    return "xx" if len(text) > 3 else "x" * len(text) + "_"


def _cut_segments(tokens: list[ReferenceToken], shapes: list[str]) -> list[_Segment]:
    segments: list[_Segment] = []
    first, before = 0, "<s>"
    for number, token in enumerate([*tokens, None]):
        mark = token.text if token is not None else "</s>"
        if token is not None and mark not in _BREAKS:
            continue
        if number > first:
            segment = _Segment(first, number - 1, before, mark)
            for place in range(first, number):
                shape = shapes[place]
                segment.words += shape[0] in "Xx"
                segment.small += shape in {"xx", "x_", "xx_", "xxx_"}
                segment.numbers += shape[0] in "9y"
            segments.append(segment)
        first, before = number + 1, mark
    return segments


def _style(tokens: list[ReferenceToken], shapes: list[str], segments: list[_Segment]) -> str:
    """Habits of the whole entry: how it begins, quotation marks, where the year stands."""
    start = "".join(shape[0] if shape[0] in "Xx9" else shape for shape in shapes[:3])
    years = [number for number, shape in enumerate(shapes) if shape.startswith("year")]
    place = "none"
    if years:
        is_bracketed = years[0] > 0 and tokens[years[0] - 1].text in "(["
        place = ("e" if years[0] * 2 < len(tokens) else "l") + ("(" if is_bracketed else "")
    has_quotes = any(token.text in _OPENING for token in tokens)
    return f"{start}/{place}/{'q' if has_quotes else '-'}"


def _places(tokens: list[ReferenceToken], segments: list[_Segment]) -> list[list[str]]:
    """Where each token stands: its segment, what went before it and what is still to come."""
    count = len(tokens)
    found: list[list[str]] = [["mark", "mark", "mark"] for _ in tokens]
    longs = [segment.words >= _LONG_SEGMENT for segment in segments]
    names_end = next(
        (
            number
            for number, segment in enumerate(segments)
            if segment.small >= _WORDS_OF_A_PHRASE
            or (segment.words and segment.small * 2 > segment.words + 1)
        ),
        len(segments),
    )
    to_come = sum(longs)
    gone = 0
    for number, segment in enumerate(segments):
        to_come -= longs[number]
        size = "0123456789"[min(segment.words, 9)]
        looks = f"{size},{min(segment.small, 3)},{min(segment.numbers, 2)}"
        marks = f"{segment.before}{segment.after}"
        names = min(3, max(-3, number - names_end))
        common = [
            f"seg={names},{min(gone, 2)},{min(to_come, 2)}",
            f"marks={marks},{names}",
            f"looks={looks},{names}",
            f"n={min(number, 6)}",
            f"left={min(len(segments) - number, 5)}",
            f"looks+marks={looks}{marks}",
            f"next={_look(segments, number + 1)}|{_look(segments, number)}",
            f"prev={_look(segments, number - 1)}|{_look(segments, number)}",
        ]
        for place in range(segment.first, segment.last + 1):
            found[place] = [*common, f"in={min(place - segment.first, 3)}"]
        gone += longs[number]
    following = count
    for place in range(count - 1, -1, -1):
        if found[place][0] == "mark":
            after = found[following][0] if following < count else "end"
            found[place] = [f"mark,{after}", f"mark,{tokens[place].text}", "mark"]
        else:
            following = place
    return found


def _look(segments: list[_Segment], number: int) -> str:
    if not 0 <= number < len(segments):
        return "-"
    segment = segments[number]
    return f"{min(segment.words, 4)}{min(segment.small, 2)}{min(segment.numbers, 2)}{segment.after}"


def _quote_depths(tokens: list[ReferenceToken]) -> list[str]:
    """`in`, `out`, and `after` for what follows a quotation."""
    state, found = "out", []
    for token in tokens:
        if token.text in "“„«":
            state = "in"
        elif token.text in "”»":
            state = "after"
        elif token.text == '"':
            state = "after" if state == "in" else "in"
        found.append(state)
    return found
