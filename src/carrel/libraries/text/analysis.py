"""The one analysis of text for searching, in every room: a text becomes terms, a query asks them.

Stems are not cut here: an index does that with `stemmer("english")` to terms of both sides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.scripts import MARKS, UNSPACED
from carrel.libraries.text.spelling import unify_spelling
from carrel.libraries.text.words import STOP_WORDS

MAX_TERM_CHARACTERS = 64
# Words that begin or fill a question; they name nothing that is searched.
_QUESTION_WORDS = "does do did is are was were can could should would please"
QUESTION_WORDS = frozenset(_QUESTION_WORDS.split())

# More parts than this are not one word: an address, a table, a sequence.
_MAX_JOINED_PARTS = 8
_CACHED_CHUNKS = 131_072
_LONGEST_CACHED = 48

# Beginnings that are no words of their own: `pre trained` is `pretrained` as well.
_BOUND_PREFIXES = (
    "anti auto bi bio co electro hetero homo hyper hypo immuno infra inter intra iso macro mega "
    "meta micro mid mono multi nano neo neuro non peri photo poly post pre proto pseudo psycho "
    "quasi self semi sub super supra tele thermo trans tri ultra"
)
_PREFIX = "|".join(sorted(_BOUND_PREFIXES.split(), key=len, reverse=True))

_DASHES = "-\u2010\u2011\u2012\u2013\u2212\u00ad\u200c"
_APOSTROPHES = "'\u2018\u2019\u201b\u2032\u00b4\u02bc"
# Signs that compatibility folding makes words of: unit signs, numbers in circles, letterlike signs.
_LETTERLIKE = "\u2100-\u2121\u2123-\u214f\u2460-\u24ff\u3200-\u33ff"
_ASCII_CHUNK = re.compile(
    rf"(?:(?=[abcehimnpqstu])(?:{_PREFIX}) )?[a-z0-9]+(?:[-'.,][a-z0-9]+|-\n[a-z]+)*", re.ASCII
)
# Typeset signs that stand in most texts, and what is typed for them.
_COMMON_SIGNS = (
    ("\u2019", "'"), ("\u2013", "-"), ("\u2010", "-"), ("\u2014", " "), ("\u201c", " "),
    ("\u201d", " "), ("\u00a0", " "),
)  # fmt: skip
_INVISIBLE = dict.fromkeys(map(ord, "\u200d\u2060\ufeff\u0640\u2122"))
_ASCII_WORD = re.compile(r"[a-z0-9]+", re.ASCII)
_FOREIGN_DIGIT = re.compile(r"[^\D0-9]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# Letters and a number, which others write apart (`covid19`, `il6`, `5ht`).
_SYMBOL = re.compile(r"([a-z]{2,})(\d+)|(\d+)([a-z]{2,3})")
# The letters of a name behind a number (`5 HT`), which are few.
_MAX_SYMBOL = 3
_DECIMAL = re.compile(r"\d+\.\d+")
_INITIALS = re.compile(r"[a-z](?:\.[a-z])+")

_GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
    "sigma tau upsilon phi chi psi omega sigma"
)
GREEK_NAMES = dict(zip("αβγδεζηθικλμνξοπρστυφχψως", _GREEK_NAMES.split(), strict=True))
# What people type who have no Greek letters.
_GREEK_LATIN = dict(zip("αβγδεκλμστω", "abgdeklustw", strict=True))
_NAME_OF_LATIN = {GREEK_NAMES[letter]: latin for letter, latin in _GREEK_LATIN.items()}
_GREEK_RUN = re.compile("([α-ως])")
_GREEK_PAIRS = frozenset({"αβ", "γδ"})


@dataclass(frozen=True, slots=True)
class AskedWord:
    """One word of a query. A text has it when it has all terms of at least one of `choices`.

    The first choice is the best one. `is_stop_word` asks for nothing where other words do.
    """

    typed: str
    choices: tuple[tuple[str, ...], ...]
    is_stop_word: bool = False

    @property
    def terms(self) -> tuple[str, ...]:
        """Every term of every choice, once, the best first."""
        return tuple(dict.fromkeys(term for choice in self.choices for term in choice))


def analyze_document(text: str) -> list[str]:
    """The terms that rank a text, in order, without stop words; `ranking_text` is faster."""
    return ranking_text(text).split()


def ranking_text(text: str) -> str:
    """The terms of `analyze_document` as one text, with spaces between them."""
    return " ".join(map(_RANKING.__getitem__, _chunks(text)))


def exact_words(text: str) -> list[str]:
    """The words in their places, for phrases: every word, each CJK character one of them."""
    return exact_text(text).split()


def exact_text(text: str) -> str:
    """The words of `exact_words` as one text, with spaces between them."""
    return " ".join(map(_EXACT.__getitem__, _chunks(text)))


def analyze_query(text: str) -> tuple[AskedWord, ...]:
    """The words that a query asks for, without stop and question words unless it has no others."""
    asked = [_ask_chunk(chunk) for chunk in _chunks(text)]
    found = _join_neighbours([word for word in asked if word.choices])
    content = [word for word in found if not word.is_stop_word and word.typed not in QUESTION_WORDS]
    return tuple(content or found)


@dataclass(frozen=True, slots=True)
class _ScriptPatterns:
    """Patterns of all scripts, which take a tenth of a second to compile."""

    # A word and what is written together with it.
    chunk: re.Pattern[str]
    # The same for a text without unspaced scripts, in which one class of characters is enough.
    spaced_chunk: re.Pattern[str]
    unspaced: re.Pattern[str]
    unspaced_character: re.Pattern[str]
    word: re.Pattern[str]


@lru_cache(1)
def _scripts() -> _ScriptPatterns:
    letter = rf"[^\W_{UNSPACED}]|[{_LETTERLIKE}]"
    inside = rf"(?:{letter}|[{MARKS}\u200d\u2060])"
    any_letter = rf"[\w{_LETTERLIKE}{MARKS}\u200d\u2060]"
    joints = rf"(?:[{_DASHES}{_APOSTROPHES}.,]|-\n)"
    prefix = rf"(?:(?=[abcehimnpqstu])(?:{_PREFIX}) )?"
    return _ScriptPatterns(
        chunk=re.compile(
            rf"[{UNSPACED}][{UNSPACED}{MARKS}\u200c\u200d\u2060]*"
            rf"|{prefix}(?:{letter}){inside}*(?:{joints}{inside}+)*"
        ),
        spaced_chunk=re.compile(
            rf"{prefix}[\w{_LETTERLIKE}]{any_letter}*(?:{joints}{any_letter}+)*"
        ),
        unspaced=re.compile(rf"[{UNSPACED}]"),
        unspaced_character=re.compile(rf"[{UNSPACED}][{MARKS}]*"),
        word=re.compile(rf"[^\W_{UNSPACED}](?:[^\W_{UNSPACED}]|[{MARKS}])*|[{UNSPACED}][{MARKS}]*"),
    )


def _chunks(text: str) -> list[str]:
    """Words and what is written together with them, lower case, not yet folded."""
    text = text.lower()
    if text.isascii():
        return _ASCII_CHUNK.findall(text)
    for sign, plain in _COMMON_SIGNS:
        text = text.replace(sign, plain)
    if text.isascii():
        return _ASCII_CHUNK.findall(text)
    scripts = _scripts()
    found: list[str] = []
    # No chunk has a full stop and a space in it, and most sentences are plain.
    for sentence in text.split(". "):
        if sentence.isascii():
            found += _ASCII_CHUNK.findall(sentence)
        elif scripts.unspaced.search(sentence) is None:
            found += scripts.spaced_chunk.findall(sentence)
        else:
            found += scripts.chunk.findall(sentence)
    return found


class _ChunkCache(dict[str, str]):
    """What a chunk becomes, computed when it is first met; bounded in size."""

    def __init__(self, make_terms: Callable[[str], Iterable[str]]) -> None:
        super().__init__()
        self._make_terms = make_terms

    def __missing__(self, chunk: str) -> str:
        made = " ".join(self._make_terms(chunk))
        if len(chunk) <= _LONGEST_CACHED:
            if len(self) >= _CACHED_CHUNKS:
                self.clear()
            self[chunk] = chunk if made == chunk else made
        return made


@dataclass(frozen=True, slots=True)
class _Pieces:
    """A chunk taken apart: its parts in order, forms of the whole, forms of neighbours in it."""

    parts: tuple[str, ...]
    joined: tuple[str, ...] = ()
    neighbours: tuple[str, ...] = ()
    is_unspaced: bool = False


def _ranking_terms(chunk: str) -> list[str]:
    pieces = _break_chunk(chunk)
    terms = [part for part in pieces.parts if part not in STOP_WORDS]
    return [*terms, *pieces.joined, *pieces.neighbours]


def _exact_terms(chunk: str) -> tuple[str, ...]:
    return _break_chunk(chunk).parts


def _ask_chunk(chunk: str) -> AskedWord:
    pieces = _break_chunk(chunk)
    typed = chunk if chunk.isascii() else fold_text(chunk)
    if pieces.is_unspaced:
        return AskedWord(typed, (pieces.neighbours or pieces.parts,))
    if not pieces.joined:
        is_stop_word = all(part in STOP_WORDS for part in pieces.parts)
        choices = [pieces.parts] if pieces.parts else []
        symbol = _SYMBOL.fullmatch(typed)
        if symbol is not None:
            choices.append(tuple(part for part in symbol.groups() if part))
        return AskedWord(typed, tuple(choices), is_stop_word)
    parts = tuple(part for part in pieces.parts if part not in STOP_WORDS)
    forms = [(form,) for form in pieces.joined]
    return AskedWord(typed, tuple(dict.fromkeys([*forms, parts] if parts else forms)))


def _join_neighbours(words: list[AskedWord]) -> list[AskedWord]:
    """`IL 6`, `TNF alpha` and `5 HT` are asked in one word as well."""
    found: list[AskedWord] = []
    for word in words:
        before = found[-1] if found else None
        if before is not None and _belong_together(before, word):
            found[-1] = _join_words(before, word)
        else:
            found.append(word)
    return found


def _belong_together(one: AskedWord, other: AskedWord) -> bool:
    if one.is_stop_word or other.is_stop_word or len(one.choices + other.choices) > 2:
        return False
    first, second = one.choices[0], other.choices[0]
    if len(first) > 1 or len(second) > 1 or not (first[0] + second[0]).isascii():
        return False
    if second[0] in _NAME_OF_LATIN:
        return first[0].isalpha()
    return (first[0].isalpha() and second[0][0].isdigit()) or (
        first[0].isdigit() and second[0].isalpha() and len(second[0]) <= _MAX_SYMBOL
    )


def _join_words(one: AskedWord, other: AskedWord) -> AskedWord:
    first, second = one.choices[0][0], other.choices[0][0]
    joined = [first + second]
    if second in _NAME_OF_LATIN:
        joined.append(first + _NAME_OF_LATIN[second])
    choices = ((first, second), *((form[:MAX_TERM_CHARACTERS],) for form in joined))
    return AskedWord(f"{one.typed} {other.typed}", choices)


def _break_chunk(chunk: str) -> _Pieces:
    """The parts of a chunk and the forms in which it is written as one word."""
    if chunk.isascii():
        if chunk.isalnum():
            return _Pieces((unify_spelling(chunk[:MAX_TERM_CHARACTERS]),))
        return _break_compound(chunk)
    folded = _fold_chunk(chunk)
    if not folded.isascii() and _scripts().unspaced.match(folded):
        return _break_unspaced(folded)
    return _break_compound(folded)


def _fold_chunk(chunk: str) -> str:
    folded = fold_text(chunk.translate(_INVISIBLE).replace("\u00ad\n", "-\n"))
    if folded.isascii():
        return folded
    folded = folded.replace("\u00ad", "").replace("\u200c", "-")
    return _FOREIGN_DIGIT.sub(_as_digit, folded)


def _as_digit(found: re.Match[str]) -> str:
    return str(int(found[0]))


def _break_unspaced(run: str) -> _Pieces:
    """Every character with its marks, and every pair of them."""
    characters = _scripts().unspaced_character.findall(run)
    pairs = tuple(one + other for one, other in pairwise(characters))
    return _Pieces(tuple(characters), (), pairs, is_unspaced=True)


def _break_compound(chunk: str) -> _Pieces:
    chunk = _THOUSANDS.sub("", chunk)
    parts: list[str] = []
    joined: list[str] = []
    neighbours: list[str] = []
    for piece in _pieces_between_commas(chunk):
        if _DECIMAL.fullmatch(piece):
            parts += piece.split(".")
            joined.append(piece[:MAX_TERM_CHARACTERS])
            continue
        words = _ASCII_WORD if piece.isascii() else _scripts().word
        atoms = [atom for word in words.findall(_strip_possessive(piece)) for atom in _atoms(word)]
        parts += [unify_spelling(_spell_greek(atom)[:MAX_TERM_CHARACTERS]) for atom in atoms]
        joined += _joined_forms(atoms)
        if len(atoms) > 2:
            neighbours += _neighbour_forms(atoms)
    return _Pieces(tuple(parts), tuple(joined), tuple(neighbours))


def _pieces_between_commas(chunk: str) -> Iterator[str]:
    """A full stop or comma between letters ends a word, but not in a number or in initials."""
    for piece in chunk.split(","):
        if _DECIMAL.fullmatch(piece):
            yield piece
        elif _INITIALS.fullmatch(piece):
            yield piece.replace(".", "-")
        else:
            yield from piece.split(".")


def _strip_possessive(word: str) -> str:
    return word.removesuffix("'s")


def _atoms(word: str) -> list[str]:
    """A word, with Greek letters apart from Latin ones and figures: TNFα is TNF, α."""
    if word.isascii() or (len(word) > 1 and word not in _GREEK_PAIRS and not _mixes_greek(word)):
        return [word]
    return [atom for atom in _GREEK_RUN.split(word) if atom]


def _mixes_greek(word: str) -> bool:
    greek = sum(character in GREEK_NAMES for character in word)
    return 0 < greek < len(word) and any(
        character.isascii() and character.isalnum() for character in word
    )


def _spell_greek(atom: str) -> str:
    return GREEK_NAMES.get(atom, atom)


def _joined_forms(atoms: list[str]) -> list[str]:
    """The whole in one word, with Greek letters by name and by the Latin letter typed for them."""
    if not 1 < len(atoms) <= _MAX_JOINED_PARTS or all(atom.isdigit() for atom in atoms):
        return []
    return _forms_in_one(atoms)


def _forms_in_one(atoms: list[str]) -> list[str]:
    # By name `μm` would be a word that is something else.
    forms = [] if "μ" in atoms else ["".join(map(_spell_greek, atoms))]
    if any(atom in _GREEK_LATIN or atom in _NAME_OF_LATIN for atom in atoms):
        forms.append(
            "".join(
                _GREEK_LATIN.get(atom) or _NAME_OF_LATIN.get(atom) or _spell_greek(atom)
                for atom in atoms
            )
        )
    return [unify_spelling(form[:MAX_TERM_CHARACTERS]) for form in dict.fromkeys(forms)]


def _neighbour_forms(atoms: list[str]) -> list[str]:
    """In longer chains the pairs that are names: `anti-PD-1` has `pd1`, `SARS-CoV-2` `cov2`."""
    return [
        form
        for one, other in pairwise(atoms)
        if one.isdigit() != other.isdigit() or other in GREEK_NAMES or one in GREEK_NAMES
        for form in _forms_in_one([one, other])
    ]


_RANKING = _ChunkCache(_ranking_terms)
_EXACT = _ChunkCache(_exact_terms)
