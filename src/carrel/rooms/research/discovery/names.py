"""The names in a row of words that the corpus knows: longest first, and never a piece in place of a whole it does not know."""

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from carrel.rooms.research.discovery.errors import MissingName
from carrel.rooms.research.discovery.function_words import FUNCTION_WORDS, NEEDS_COMPANY
from carrel.rooms.research.discovery.goal_words import ASKING, AUXILIARIES, GENERIC, RELATING, SETTINGS, is_aspect
from carrel.rooms.research.discovery.literatures import Literature, Reader
from carrel.rooms.research.discovery.records import Standing
from carrel.rooms.research.discovery.tokens import Token, is_title_case
from carrel.rooms.research.discovery.words import may_end_a_concept, normal_phrase, nouns_behind

ENOUGH_DOCUMENTS = 3
LONGEST_WORDS = 6
COMMON_SHARE = 0.001
"""A loose word in more than one paper of a thousand is part of how science speaks, not a name of something."""

NEAR_NAMES = 3


@dataclass(frozen=True)
class Thing:
    """Something a text names and the corpus knows; `start` and `end` are places in the row of words, and `pieces` are other
    concepts in the same phrase, for where this one leads nowhere."""

    number: int
    literature: Literature
    start: int
    end: int
    is_loose: bool
    notes: tuple[str, ...] = ()
    pieces: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Span:
    start: int
    end: int
    number: int
    is_strong: bool
    is_thin: bool


def things_in(reader: Reader, tokens: Sequence[Token]) -> tuple[list[Thing], list[MissingName], list[str]]:
    """What is named and known, what is named and not known, and which words were left aside."""
    spans = _chosen(list(_spans(reader, tokens)))
    things: list[Thing] = []
    missing: list[MissingName] = []
    ignored: list[str] = []
    for start, end in _runs(tokens, spans):
        for part in _parts(reader, tokens, [span for span in spans if start <= span.start < end], start, end):
            _read_part(reader, tokens, part, things, missing, ignored)
    return things, missing, ignored


def common_subjects(reader: Reader, most: int = 3) -> tuple[str, ...]:
    """What most papers are about without nearly all of them being about it: examples of what can be asked."""
    index = reader.index
    subjects = (number for number in range(index.size) if index.named_in(number) > 1 and not reader.is_broad(number, 2.0))
    able = heapq.nlargest(most, subjects, key=lambda number: (index.named_in(number), -number))
    return tuple(index.label(number) for number in able)


def counted(count: int, noun: str) -> str:
    """`1 paper`, `2 papers`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def near_names(reader: Reader, names: Sequence[str]) -> list[tuple[str, ...]]:
    """For each name, those of the corpus that contain a word of it, or are spelled nearly like a word that is not there."""
    index = reader.index
    known = [number for number in range(index.size) if index.named_in(number)]
    keys = [index.key(number) for number in known]
    found = []
    for name in names:
        small = GENERIC | FUNCTION_WORDS | ASKING
        words = {word for word in normal_phrase(name).split(" ") if word not in small and len(word) > 2}
        holding = [number for number, key in zip(known, keys, strict=True) if not words.isdisjoint(key.split(" "))]
        holding.sort(key=lambda number: (-index.frequency(number), number))
        alike = [one for word in sorted(words) if index.number(word) is None for one in _spelled_like(word, keys)]
        numbers = dict.fromkeys((*(number for key in alike if (number := index.number(key)) is not None), *holding))
        chosen = list(numbers)[:NEAR_NAMES]
        found.append(tuple(f"{index.label(number)} ({counted(index.frequency(number), 'paper')})" for number in chosen))
    return found


def _spelled_like(word: str, keys: Sequence[str]) -> list[str]:
    near = [key for key in keys if key[:2] == word[:2] and abs(len(key) - len(word)) <= 2]
    return get_close_matches(word, near, NEAR_NAMES, 0.8)


def _spans(reader: Reader, tokens: Sequence[Token]) -> Iterator[_Span]:
    for start in range(len(tokens)):
        for end in range(start + 1, min(start + LONGEST_WORDS, len(tokens)) + 1):
            if end > start + 1 and tokens[end - 1].is_after_break:
                break
            row = tokens[start:end]
            words = [token.word for token in row]
            if row[0].is_small or row[-1].is_small or not _says_something(words):
                continue
            number = _known(reader, words)
            # `the drug rapamycin` is no name of its own; `drug resistance`, which authors call their subject, is.
            is_asked = len(words) > 1 and (words[0] in ASKING or words[-1] in ASKING)
            if number is not None and not (is_asked and reader.rank_of_kind(number) < 2):
                yield _Span(
                    start, end, number, _is_strong(reader, words, number), reader.index.frequency(number) < ENOUGH_DOCUMENTS
                )


def _known(reader: Reader, words: list[str]) -> int | None:
    index = reader.index
    number = index.number(" ".join(words))
    if number is not None and not index.frequency(number):
        number = None
    if len(words) == 1 and (number is None or index.standing(number) is Standing.WORD):
        # An adjective stands for its noun where the two are nearly one word (`astrocytic`: `astrocyte`).
        for noun in nouns_behind(words[0]):
            behind = index.number(noun)
            if noun[: len(words[0]) - 2] == words[0][:-2] and behind is not None and _is_strong(reader, [noun], behind):
                return behind
    return number


def _says_something(words: list[str]) -> bool:
    return any(
        word not in FUNCTION_WORDS and word not in ASKING and word not in NEEDS_COMPANY and len(word) > 1 for word in words
    )


def _is_strong(reader: Reader, words: list[str], number: int) -> bool:
    """Whether a concept is a thing that papers are about, not a word they happen to use."""
    index = reader.index
    if len(words) == 1 and (words[0] in GENERIC or words[0] in ASKING):
        return False
    is_subject = index.standing(number) is Standing.TERM or reader.rank_of_kind(number) == 2
    if len(words) > 1:
        tells = any(word not in GENERIC and word not in ASKING and word not in NEEDS_COMPANY for word in words)
        return tells and (is_subject or not reader.is_broad(number))
    is_named = index.named_in(number) >= ENOUGH_DOCUMENTS and not reader.is_broad(number, 4.0)
    return is_subject or (is_named and not is_aspect(words[0]))


def _chosen(spans: list[_Span]) -> list[_Span]:
    # What one span has taken no other may; what hardly any paper knows comes after what several do.
    spans.sort(key=lambda span: (not span.is_strong, span.is_thin, -(span.end - span.start), span.start))
    taken: set[int] = set()
    kept = []
    for span in spans:
        if not taken.intersection(range(span.start, span.end)):
            taken.update(range(span.start, span.end))
            kept.append(span)
    return sorted(kept, key=lambda span: span.start)


def _runs(tokens: Sequence[Token], spans: Sequence[_Span]) -> Iterator[tuple[int, int]]:
    """Where names may stand: rows of words with no stop, small word or asking word between them."""
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
    """Where the verb stands that `do` or `could` asks for, when no verb of the lists is there: last in the row after a name."""
    if not any(token.text.lower() in AUXILIARIES for token in tokens) or any(token.word in RELATING for token in tokens):
        return None
    for place in range(1, len(tokens)):
        is_last = (
            place + 1 == len(tokens) or tokens[place + 1].is_small or tokens[place + 1].is_after_break or place + 1 in covered
        )
        row = place
        while row > 0 and row not in covered and not tokens[row].is_small and not tokens[row].is_after_break:
            row -= 1
        if is_last and place not in covered and row in covered and tokens[place].text.islower():
            return place
    return None


@dataclass(frozen=True)
class _Part:
    start: int
    end: int
    strong: tuple[_Span, ...]
    loose: tuple[_Span, ...]


def _parts(reader: Reader, tokens: Sequence[Token], spans: Sequence[_Span], start: int, end: int) -> Iterator[_Part]:
    """A run cut at words between two names that are no part of either: a verb the lists do not know, most often."""
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
    return not may_end_a_concept(word) or word.endswith(("ic", "al", "ar", "ary", "ant", "ent", "oid", "ian"))


def _read_part(
    reader: Reader, tokens: Sequence[Token], part: _Part, things: list[Thing], missing: list[MissingName], ignored: list[str]
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
        if place not in used and place not in after and place not in before and not is_aspect(tokens[place].word)
    )
    things.append(thing)


def _thing(reader: Reader, tokens: Sequence[Token], part: _Part) -> Thing:
    index = reader.index
    whole = _joint(reader, part.strong) if len(part.strong) > 1 else None
    # Of several names in one phrase the last is what the phrase is, unless it only says what of the others is meant.
    # What hardly any paper knows gives way to what several do.
    enough = [span for span in part.strong if not span.is_thin] or part.strong
    main = next(
        (span for span in reversed(enough) if not (span.end - span.start == 1 and is_aspect(tokens[span.start].word))),
        enough[-1],
    )
    notes: list[str] = []
    if whole is not None:
        literature = whole
    else:
        literature = _literature(reader, main.number)
        if len(part.strong) > 1:
            said = " ".join(token.text for token in tokens[part.start : part.end])
            notes.append(f"Hardly any paper speaks of all of “{said}”; it was read as {index.label(main.number)}.")
    if main.is_thin and whole is None:
        notes.append(f"Only {counted(len(literature.documents), 'paper')} here: little can be built on that.")
    pieces = tuple(span.number for span in part.strong if span.number != main.number)
    return Thing(main.number, literature, part.start, part.end, is_loose=False, notes=tuple(notes), pieces=pieces)


def _read_loose(
    reader: Reader, tokens: Sequence[Token], part: _Part, things: list[Thing], missing: list[MissingName], ignored: list[str]
) -> None:
    loose = {span.start: span for span in part.loose}
    telling = [place for place in range(part.start, part.end) if _tells(reader, tokens, place, loose, is_beside_name=False)]
    unknown = [place for place in telling if place not in loose and not may_modify(tokens[place].word)]
    if unknown == [0] and part.end == 1 and tokens[0].word != tokens[0].text and not _names_at_once(tokens):
        # A sentence that begins with a word by itself begins with what it asks.
        ignored.append(tokens[0].text)
        return
    if unknown:
        missing.append(_missing(tokens, part))
        return
    words = [loose[place] for place in telling if place in loose and not loose[place].is_thin]
    whole = [span for span in part.loose if span.end - span.start > 1 and not span.is_thin]
    chosen = whole or words[-1:]
    things.extend(Thing(span.number, _literature(reader, span.number), span.start, span.end, is_loose=True) for span in chosen)
    ignored.append(" ".join(token.text for token in tokens[part.start : part.end]))


def _tells(reader: Reader, tokens: Sequence[Token], place: int, loose: dict[int, _Span], *, is_beside_name: bool = True) -> bool:
    """Whether a word that is no name of the corpus carries so much of the meaning that it cannot be left out."""
    word = tokens[place].word
    if word in GENERIC or word in ASKING or word in NEEDS_COMPANY or is_aspect(word) or word.isdigit() or len(word) < 3:
        return False
    if place == 0 and is_beside_name and word != tokens[0].text and not _names_at_once(tokens):
        # A sentence begins with what it asks (`Pinpoint …`): a word there that the corpus does not know is no name.
        return False
    span = loose.get(place)
    if span is None:
        return may_end_a_concept(word)
    common = max(ENOUGH_DOCUMENTS, COMMON_SHARE * len(reader.index))
    return reader.index.frequency(span.number) < common


def _names_at_once(tokens: Sequence[Token]) -> bool:
    """Whether the first word can only be a name: a possessive, or joined to what follows by a small word."""
    first = tokens[0].text
    return "'" in first or "’" in first or (len(tokens) > 1 and tokens[1].word in {"and", "in", "or"})


def _is_unknown_proper_name(tokens: Sequence[Token], part: _Part) -> bool:
    """Two capitalised words in a row name one thing; if the corpus does not know it, neither word stands for it."""
    if is_title_case(tokens):
        return False
    for place in range(part.start, part.end - 1):
        pair = tokens[place], tokens[place + 1]
        if all(token.is_capital and not token.begins_sentence and len(token.text) > 2 for token in pair):
            return not any(span.start <= place and place + 2 <= span.end for span in part.strong)
    return False


def _missing(tokens: Sequence[Token], part: _Part) -> MissingName:
    text = " ".join(token.text for token in tokens[part.start : part.end])
    before = tokens[part.start - 1].word if part.start else ""
    written_as_name = any(token.text[0].isupper() and not token.begins_sentence for token in tokens[part.start : part.end])
    return MissingName(text, before not in SETTINGS or written_as_name)


def _literature(reader: Reader, number: int) -> Literature:
    found = reader.literature([reader.index.key(number)])
    assert found is not None
    return found


def _joint(reader: Reader, spans: Sequence[_Span]) -> Literature | None:
    joint = reader.joint_literature([reader.index.key(span.number) for span in spans])
    return joint if joint is not None and len(joint.documents) >= ENOUGH_DOCUMENTS else None
