"""Terms of the corpus in a sequence of words, longest match first."""

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from carrel.libraries.discovery.concepts.kinds import kind_in_index
from carrel.libraries.discovery.concepts.words import NEEDS_COMPANY, may_end_a_concept
from carrel.libraries.discovery.errors import MissingName
from carrel.libraries.discovery.goals.goal_language import (
    ASKING,
    AUXILIARIES,
    GENERIC,
    RELATING,
    SETTINGS,
    Token,
    is_aspect,
    is_title_case,
)
from carrel.libraries.discovery.goals.records import Thing
from carrel.libraries.discovery.goals.spans import Span, chosen, counted, spans_in
from carrel.libraries.discovery.paths.literatures import Reader
from carrel.libraries.discovery.records import Kind, Literature
from carrel.libraries.discovery.tuned import GOALS


def things_in(
    reader: Reader,
    tokens: Sequence[Token],
    subjects: Collection[str] = (),
    verbs: Collection[str] = (),
) -> tuple[list[Thing], list[MissingName], list[str]]:
    """The known things, the unknown names, and the words left out.

    `subjects` are the phrases in normal form that the grammar of the text tells, and `verbs` its
    verbs.
    """
    spans = chosen(list(spans_in(reader, tokens, subjects, verbs)))
    things: list[Thing] = []
    missing: list[MissingName] = []
    ignored: list[str] = []
    for start, end in _runs(tokens, spans):
        for part in _parts(
            reader, tokens, [span for span in spans if start <= span.start < end], start, end
        ):
            _read_part(reader, tokens, part, things, missing, ignored)
    return things, missing, ignored


def typed_thing(reader: Reader, tokens: Sequence[Token]) -> Thing | None:
    """Where a goal has no better subject: its rarest words that several papers say, or None.

    What a person types is never refused for how texts use it, only for being in too many of them.
    """
    index, most = reader.index, GOALS.too_much * len(reader.index)
    said = [
        span
        for span in chosen(list(spans_in(reader, tokens)))
        if GOALS.enough_documents <= index.frequency(span.number) <= most
        and tokens[span.start].word not in RELATING
    ]
    if not said:
        return None
    best = min(said, key=lambda span: (span.start - span.end, index.frequency(span.number)))
    label = index.label(best.number)
    return Thing(
        best.number,
        _literature(reader, best.number),
        best.start,
        best.end,
        is_loose=False,
        notes=(f"Read as {label}, a word that papers here use in passing: results may be broad.",),
    )


def _runs(tokens: Sequence[Token], spans: Sequence[Span]) -> Iterator[tuple[int, int]]:
    """Runs that may hold names: no punctuation, function or question word inside."""
    covered = {place for span in spans if span.is_strong for place in range(span.start, span.end)}
    verb = _unlisted_verb(tokens, covered)
    start: int | None = None
    for place, token in enumerate(tokens):
        parts = place not in covered and (token.is_small or token.word in ASKING or place == verb)
        if start is not None and (parts or token.is_after_break):
            yield start, place
            start = None
        if not parts and start is None:
            start = place
    if start is not None:
        yield start, len(tokens)


def _unlisted_verb(tokens: Sequence[Token], covered: set[int]) -> int | None:
    """The position of an unlisted verb after `do` or `could`: last in the run after a name."""
    if not any(token.text.lower() in AUXILIARIES for token in tokens) or any(
        token.word in RELATING for token in tokens
    ):
        return None
    for place in range(1, len(tokens)):
        is_last = (
            place + 1 == len(tokens)
            or tokens[place + 1].is_small
            or tokens[place + 1].is_after_break
            or place + 1 in covered
        )
        row = place
        while (
            row > 0
            and row not in covered
            and not tokens[row].is_small
            and not tokens[row].is_after_break
        ):
            row -= 1
        if is_last and place not in covered and row in covered and tokens[place].text.islower():
            return place
    return None


@dataclass(frozen=True)
class _Part:
    start: int
    end: int
    strong: tuple[Span, ...]
    loose: tuple[Span, ...]


def _parts(
    reader: Reader, tokens: Sequence[Token], spans: Sequence[Span], start: int, end: int
) -> Iterator[_Part]:
    """Split a run at the words between two names that belong to neither, such as a verb."""
    strong = [span for span in spans if span.is_strong]
    cuts = [start]
    for one, other in itertools.pairwise(strong):
        between = range(one.end, other.start)
        if between and not any(may_modify(tokens[place].word) for place in between):
            cuts.extend((one.end, other.start))
    cuts.append(end)
    for first, last in zip(cuts[::2], cuts[1::2], strict=True):
        inside = [span for span in spans if first <= span.start < last]
        yield _Part(
            first,
            last,
            tuple(span for span in inside if span.is_strong),
            tuple(span for span in inside if not span.is_strong),
        )


def may_modify(word: str) -> bool:
    """Whether a word looks like an adjective, which belongs to the name after it."""
    return not may_end_a_concept(word) or word.endswith(
        ("ic", "al", "ar", "ary", "ant", "ent", "oid", "ian")
    )


def _read_part(
    reader: Reader,
    tokens: Sequence[Token],
    part: _Part,
    things: list[Thing],
    missing: list[MissingName],
    ignored: list[str],
) -> None:
    row = tokens[part.start : part.end]
    loose = {span.start: span for span in part.loose}
    if _is_unknown_proper_name(tokens, part):
        missing.append(_missing(tokens, part))
        return
    if not part.strong:
        _read_loose(reader, tokens, part, things, missing, ignored)
        return
    first, last = part.strong[0], part.strong[-1]
    after = [place for place in range(last.end, part.end) if _tells(reader, tokens, place, loose)]
    before = [
        place
        for place in range(part.start, first.start)
        if _tells(reader, tokens, place, loose) and not may_modify(tokens[place].word)
    ]
    if len(part.strong) > 1 and _is_unknown_compound(reader, tokens, part):
        if part.start == 0 and part.end == len(tokens):
            # Nothing but names: a list of them, not one.
            things.extend(_named(reader, span) for span in part.strong)
        else:
            missing.append(_missing(tokens, part))
        return
    thing = _thing(reader, tokens, part)
    if before or after:
        # A rare word beside a name makes another name of it, unless some papers speak of both.
        together = [*(loose[place] for place in (*before, *after) if place in loose), last]
        joint = _joint(reader, together) if len(together) == 1 + len(before) + len(after) else None
        if joint is None:
            missing.append(_missing(tokens, part))
            return
        thing = replace(thing, literature=joint, number=last.number)
    used = {place for span in part.strong for place in range(span.start, span.end)}
    ignored.extend(
        row[place - part.start].text
        for place in range(part.start, part.end)
        if place not in used
        and place not in after
        and place not in before
        and not is_aspect(tokens[place].word)
    )
    things.append(thing)


def _is_unknown_compound(reader: Reader, tokens: Sequence[Token], part: _Part) -> bool:
    """Whether it ends in two known words that hardly any paper has together (`fish oil`)."""
    one, other = part.strong[-2:]
    are_words = all(
        span.end - span.start == 1 and not _is_aspect(reader, tokens, span) for span in (one, other)
    )
    return are_words and one.end == other.start and _joint(reader, (one, other)) is None


def _is_aspect(reader: Reader, tokens: Sequence[Token], span: Span) -> bool:
    """Whether a span is one word for an aspect of the name before it; never a disease."""
    is_word = span.end - span.start == 1 and is_aspect(tokens[span.start].word)
    return is_word and kind_in_index(reader.index, span.number) is not Kind.DISEASE


def _named(reader: Reader, span: Span) -> Thing:
    return Thing(
        span.number, _literature(reader, span.number), span.start, span.end, is_loose=False
    )


def _thing(reader: Reader, tokens: Sequence[Token], part: _Part) -> Thing:
    index = reader.index
    whole = _joint(reader, part.strong) if len(part.strong) > 1 else None
    # Of several names in one phrase the last is what the phrase is, unless it only says what of the
    # others is meant.
    # What hardly any paper knows gives way to what several do.
    enough = [span for span in part.strong if not span.is_thin] or part.strong
    main = next(
        (span for span in reversed(enough) if not _is_aspect(reader, tokens, span)), enough[-1]
    )
    notes: list[str] = []
    if whole is not None:
        literature = whole
    else:
        literature = _literature(reader, main.number)
        if len(part.strong) > 1:
            said = " ".join(token.text for token in tokens[part.start : part.end])
            notes.append(
                f"Hardly any paper speaks of all of “{said}”; it was read as "
                f"{index.label(main.number)}."
            )
    if main.is_thin and whole is None:
        notes.append(
            f"Only {counted(len(literature.documents), 'paper')} here: little can be built on that."
        )
    pieces = tuple(span.number for span in part.strong if span.number != main.number)
    return Thing(
        main.number,
        literature,
        part.start,
        part.end,
        is_loose=False,
        notes=tuple(notes),
        pieces=pieces,
    )


def _read_loose(
    reader: Reader,
    tokens: Sequence[Token],
    part: _Part,
    things: list[Thing],
    missing: list[MissingName],
    ignored: list[str],
) -> None:
    loose = {span.start: span for span in part.loose}
    telling = [
        place
        for place in range(part.start, part.end)
        if _tells(reader, tokens, place, loose, is_beside_name=False)
    ]
    unknown = [
        place for place in telling if place not in loose and not may_modify(tokens[place].word)
    ]
    if (
        unknown == [0]
        and part.end == 1
        and tokens[0].word != tokens[0].text
        and not _names_at_once(tokens)
    ):
        # A sentence that begins with a word by itself begins with what it asks.
        ignored.append(tokens[0].text)
        return
    if unknown:
        missing.append(_missing(tokens, part))
        return
    words = [loose[place] for place in telling if place in loose and not loose[place].is_thin]
    whole = [span for span in part.loose if span.end - span.start > 1 and not span.is_thin]
    chosen = whole or words[-1:]
    things.extend(
        Thing(span.number, _literature(reader, span.number), span.start, span.end, is_loose=True)
        for span in chosen
    )
    ignored.append(" ".join(token.text for token in tokens[part.start : part.end]))


def _tells(
    reader: Reader,
    tokens: Sequence[Token],
    place: int,
    loose: dict[int, Span],
    *,
    is_beside_name: bool = True,
) -> bool:
    """Whether a word outside all names is too specific to be left out."""
    word = tokens[place].word
    if (
        word in GENERIC
        or word in ASKING
        or word in NEEDS_COMPANY
        or is_aspect(word)
        or word.isdigit()
        or len(word) < 3
    ):
        return False
    if place == 0 and is_beside_name and word != tokens[0].text and not _names_at_once(tokens):
        # A sentence begins with what it asks (`Pinpoint …`): a word there that the corpus does not
        # know is no name.
        return False
    span = loose.get(place)
    if span is None:
        return may_end_a_concept(word)
    common = max(GOALS.enough_documents, GOALS.common_share * len(reader.index))
    return reader.index.frequency(span.number) < common


def _names_at_once(tokens: Sequence[Token]) -> bool:
    """Whether the first word must be a name: a possessive, or followed by `and`, `in` or `or`."""
    first = tokens[0].text
    return (
        "'" in first or "’" in first or (len(tokens) > 1 and tokens[1].word in {"and", "in", "or"})
    )


def _is_unknown_proper_name(tokens: Sequence[Token], part: _Part) -> bool:
    """Whether it holds two capitalised words in a row that are no name of the corpus."""
    if is_title_case(tokens):
        return False
    for place in range(part.start, part.end - 1):
        pair = tokens[place], tokens[place + 1]
        if all(
            token.is_capital and not token.begins_sentence and len(token.text) > 2 for token in pair
        ):
            return not any(span.start <= place and place + 2 <= span.end for span in part.strong)
    return False


def _missing(tokens: Sequence[Token], part: _Part) -> MissingName:
    text = " ".join(token.text for token in tokens[part.start : part.end])
    before = tokens[part.start - 1].word if part.start else ""
    written_as_name = any(
        token.text[0].isupper() and not token.begins_sentence
        for token in tokens[part.start : part.end]
    )
    return MissingName(text, before not in SETTINGS or written_as_name)


def _literature(reader: Reader, number: int) -> Literature:
    found = reader.literature([reader.index.key(number)])
    assert found is not None
    if len(found.documents) > GOALS.too_much * len(reader.index):
        # With everything narrower it would be half the corpus: what is called by that very name is
        # meant.
        return Literature(
            found.label, frozenset({number}), frozenset(reader.index.documents(number))
        )
    return found


def _joint(reader: Reader, spans: Sequence[Span]) -> Literature | None:
    joint = reader.joint_literature([reader.index.key(span.number) for span in spans])
    return joint if joint is not None and len(joint.documents) >= GOALS.enough_documents else None
