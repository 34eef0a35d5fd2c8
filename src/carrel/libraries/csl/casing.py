"""Text case over tokens: the words change, marks and `nocase` stretches stay where they are."""

import re
from collections.abc import Callable

from .tokens import CITATION_NUMBER, NAMES, TERM, WORDS, Mark, Tokens

_stop_words = """a about above across afore after against al along alongside amid amidst among amongst an and anenst
    apropos apud around as aside astride at athwart atop barring before behind below beneath beside
    besides between beyond but by c ca circa d' d’ de despite down during et except for forenenst from
    given in inside into lest like modulo near next nor notwithstanding of off on onto or out over per
    plus pro qua sans since so than the through throughout thru thruout till to toward towards under
    underneath until unto up upon v v. van versus via vis-à-vis von vs vs. with within without yet"""  # noqa: E501
STOP_WORDS = frozenset(_stop_words.split())
_phrases = (
    "according to", "ahead of", "apart from", "as for", "as of", "as per", "as regards",
    "aside from", "back to", "because of", "close to", "due to", "except for", "far from",
    "inside of", "instead of", "near to", "next to", "on to", "out from", "out of", "outside of",
    "prior to", "pursuant to", "rather than", "regardless of", "such as", "that of", "up to",
    "where as",
)  # fmt: skip
_phrase = re.compile(r"\b(?:" + "|".join(_phrases) + r")\b")
_title_word = re.compile(r"[^\s\u00a0\u202f/\-–—….()\[\]{}:]+\.?")
_dotted_word = re.compile(r"[^\s\u00a0\u202f/\-–—….()\[\]{}:]+")
_letters = re.compile(r"[^\W\d_]")
_first_word = re.compile(r"[^\W_][^\s\u00a0\u202f/\-–—.]*")
_elided = re.compile(r"[^\W\d_][’'](?=[^\W\d_]{2})")
_starters = frozenset(":?!")

# Capitals that Greek makes of small letters have no accents.
_greek_capitals = dict(zip("ΆΈΉΊΌΎΏ", "ΑΕΗΙΟΥΩ", strict=True))

_Change = Callable[[str, list[bool]], str]


def apply_case(tokens: Tokens, case: str, english: bool, language: str = "") -> Tokens:
    """These tokens in another case. Title case is only English; elsewhere the words stay."""
    change = _changes.get(case)
    if change is None or (case == "title" and not english):
        return tokens
    if language in {"tr", "az"}:
        tokens = [
            _turkish_case(token, case) if token.__class__ is str else token for token in tokens
        ]
    texts = [token for token in tokens if token.__class__ is str]
    whole = "".join(texts)
    fixed = _protected_positions(tokens, len(whole)) if len(texts) != len(tokens) else []
    changed = change(whole, fixed)
    if language in {"tr", "az"} and len(changed) == len(whole):
        changed = "".join(
            "İ" if (old, new) == ("i", "I") else new
            for old, new in zip(whole, changed, strict=True)
        )
    if language == "el" and len(changed) == len(whole):
        changed = "".join(
            _greek_capitals.get(new, new) if old != new else new
            for old, new in zip(whole, changed, strict=True)
        )
    if len(texts) == 1 and len(tokens) == 1:
        return [changed]
    if len(changed) != len(whole):
        return [change(token, []) if token.__class__ is str else token for token in tokens]
    result: Tokens = []
    place = 0
    for token in tokens:
        if token.__class__ is str:
            result.append(changed[place : place + len(token)])
            place += len(token)
        else:
            result.append(token)
    return result


def _turkish_case(text: str, case: str) -> str:
    """In Turkish i and İ, ı and I belong together."""
    if case == "uppercase":
        return text.replace("i", "İ")
    return text.replace("I", "ı").replace("İ", "i") if case == "lowercase" else text


def _protected_positions(tokens: Tokens, length: int) -> list[bool]:
    """Which characters may not change; empty where all may."""
    fixed = [False] * length
    depth = place = 0
    for token in tokens:
        if token.__class__ is str:
            end = place + len(token)
            if depth:
                fixed[place:end] = [True] * (end - place)
            place = end
        elif _protects(token):  # type: ignore[arg-type]
            depth += 1 if token.is_open else -1  # type: ignore[union-attr]
    return fixed if any(fixed) else []


def _protects(mark: Mark) -> bool:
    """Whether case is left alone between this mark and the one that closes it."""
    return mark.kind in {"nocase", "no-decoration"} or (
        mark.flips and mark.kind in {"vertical-align", "font-variant"}
    )


def _each(text: str, fixed: list[bool], change: Callable[[str], str]) -> str:
    if not fixed:
        return change(text)
    return "".join(
        letter if keep else _same_length(letter, change)
        for letter, keep in zip(text, fixed, strict=True)
    )


def _same_length(letter: str, change: Callable[[str], str]) -> str:
    changed = change(letter)
    return changed if len(changed) == 1 else letter


def _lower(text: str, fixed: list[bool]) -> str:
    return _each(text, fixed, str.lower)


def _upper(text: str, fixed: list[bool]) -> str:
    return _each(text, fixed, str.upper)


def _uppercase_at(text: str, place: int) -> str:
    letter = _same_length(text[place], str.upper)
    return text if letter == text[place] else text[:place] + letter + text[place + 1 :]


def _capitalize_first(text: str, fixed: list[bool]) -> str:
    word = _first_word.search(text)
    if (
        word is None
        or word[0][0].isdigit()
        or not word[0].islower()
        or (fixed and fixed[word.start()])
    ):
        return text
    return _uppercase_at(text, word.start())


def _capitalize_all(text: str, fixed: list[bool]) -> str:
    for word in _dotted_word.finditer(text):
        letter = _letters.search(word[0])
        if (
            letter
            and not word[0][:1].isdigit()
            and word[0].islower()
            and not (fixed and fixed[word.start() + letter.start()])
        ):
            text = _uppercase_at(text, word.start() + letter.start())
    return text


def _sentence(text: str, fixed: list[bool]) -> str:
    lowered = _lower(text, fixed)
    if len(lowered) != len(text):
        return text
    first = _first_word.search(text)
    if first is not None and not text.isupper():
        lowered = text[: first.end()] + lowered[first.end() :]
    return _capitalize_first(lowered, fixed)


_word_joiner = re.compile("[-–/]")


def _title(text: str, fixed: list[bool]) -> str:
    words = list(_title_word.finditer(text))
    # What stands before the first hyphen counts as a last word, unless another sign joins earlier.
    joiner = _word_joiner.search(text)
    hyphen = joiner.start() if joiner and joiner[0] == "-" else -1
    skipped = {
        place for found in _phrase.finditer(text) for place in range(found.start(), found.end())
    }
    letters = list(text)
    for index, word in enumerate(words):
        shown = word[0]
        first = _letters.search(shown)
        if first is None:
            continue
        place = word.start() + first.start()
        if fixed and fixed[place]:
            continue
        if _elided.match(shown, first.start()):
            # The article of `l’eau` and the name of `o’neill` stay small, but at the beginning.
            if index == 0:
                letters[place] = _same_length(letters[place], str.upper)
            continue
        core = shown.strip("()[]{}“”‘’\"',;:!?«»„").lower()
        is_compound = word.end() == hyphen
        is_edge = (
            index == 0
            or index == len(words) - 1
            or is_compound
            or _starts_sentence(text, word.start())
        )
        is_letter = len(core.rstrip(".")) == 1
        if is_letter and index and not (is_compound or (core in STOP_WORDS and is_edge)):
            continue
        if (
            core in STOP_WORDS
            or (core.rstrip(".") in STOP_WORDS and core not in {"a.", "c."})
            or place in skipped
        ) and not is_edge:
            continue
        if shown[: first.start()].strip("([{“”‘’\"'«»„‚¿¡"):
            continue
        if not any(letter.isupper() for letter in shown):
            letters[place] = _same_length(letters[place], str.upper)
    return "".join(letters)


def _starts_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \u00a0“‘(\"'[")
    return bool(before) and before[-1] in _starters


_changes: dict[str, _Change] = {
    "lowercase": _lower,
    "uppercase": _upper,
    "capitalize-first": _capitalize_first,
    "capitalize-all": _capitalize_all,
    "sentence": _sentence,
    "title": _title,
}


def capitalize_leading_term(tokens: Tokens) -> Tokens:
    """The same, but a term that comes first, or behind the number of a citation, gets a capital."""
    is_term = in_names = in_number = is_prefix = False
    for place, token in enumerate(tokens):
        if token is WORDS:
            is_prefix = True
        elif is_prefix and token.__class__ is str:
            is_prefix = False
        elif token is CITATION_NUMBER or token is CITATION_NUMBER.close:
            in_number = not in_number
        elif in_number:
            continue
        elif token is TERM:
            is_term = True
        elif token is NAMES:
            in_names = True
        elif token.__class__ is str and (
            is_term or (in_names and token) or any(letter.isalnum() for letter in token)
        ):
            if is_term:
                return [
                    *tokens[:place],
                    *apply_case([token], "capitalize-first", True),
                    *tokens[place + 1 :],
                ]
            return tokens
    return tokens
