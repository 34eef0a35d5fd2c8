"""Split a claim, a sentence of a draft or a hypothesis into statements that can be checked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from carrel.libraries.claims.readings import WordLists, load_word_lists, stem_word
from carrel.libraries.claims.records import Statement, StatementKind
from carrel.libraries.text.analysis import analyze_query
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.sentences import sentence_ends

MAX_TEXT_CHARACTERS = 20_000
MAX_STATEMENTS = 60
LEAST_CONTENT_WORDS = 2

_CITATION = re.compile(
    r"\s*\[@[^\]]{1,200}\]|\s*\[\d[\d,;\s–-]{0,60}\]"
    r"|\s*\((?:see |e\.g\.,? )?[A-Z][^()]{0,120}?\b(?:19|20)\d\d[a-z]?\)"
)
_BLOCK_END = re.compile(r"\n\s*\n|\n(?=\s{0,8}(?:[-*+•>]|\d{1,3}[.)])\s)|\n(?=#)|(?<=\n)(?=\|)")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+[^\n]*(?:\n|$)")
_LIST_SIGN = re.compile(r"^\s{0,8}(?:[-*+•>]|\d{1,3}[.)])\s+")
_OPENING = re.compile(
    r"^(?:we |i )?(?:hypothesi[sz]e|propose|claim|suggest|believe|assume|argue)s?d?"
    r"(?: here)? that\s+|^(?:hypothesis|claim|statement|conclusion)\s*:\s*"
    r"|^(?:it (?:is|has been) \w+ that)\s+",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r";\s+|,\s+(?:whereas|while|but|yet)\s+|\s+whereas\s+", re.IGNORECASE)
_BY_DOING = re.compile(r"\s+by\s+(?=([a-z-]+ing)\s)", re.IGNORECASE)
_AND = re.compile(r",? and (?:also )?")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_MODALS = frozenset(
    {"may", "might", "could", "can", "will", "would", "should", "must", "does", "did", "do"}
)
_LEADS = _MODALS | {"not", "is", "are", "was", "were", "to"}
_END_SIGNS = " .;:,!?\u3002"
# Text without spaces between words says something from this many characters on.
_LEAST_UNSPACED_CHARACTERS = 6
_FIRST_UNSPACED = "\u0e00"  # Thai; the scripts of Europe, the Near East and India stand before it


class TextTooLongError(ValueError):
    """A text has more characters than are split at once."""

    def __init__(self, size_characters: int) -> None:
        super().__init__(
            f"The text has {size_characters:,} characters; at most {MAX_TEXT_CHARACTERS:,} are "
            "checked at once. Give it in parts."
        )
        self.size_characters = size_characters


def split_statements(text: str) -> tuple[Statement, ...]:
    """The statements of a text in its order, each once; raises TextTooLongError."""
    if len(text) > MAX_TEXT_CHARACTERS:
        raise TextTooLongError(len(text))
    lists = load_word_lists()
    found: dict[str, Statement] = {}
    for sentence in _sentences(text):
        for statement in _split_sentence(sentence, lists):
            found.setdefault(fold_text(statement.text), statement)
    return tuple(found.values())[:MAX_STATEMENTS]


def _sentences(text: str) -> Iterator[str]:
    for block in _BLOCK_END.split(text):
        plain = _CITATION.sub("", _LIST_SIGN.sub("", _HEADING.sub("", block)))
        start = 0
        for end in sentence_ends(plain, 0, len(plain)):
            sentence = " ".join(plain[start:end].split())
            start = end
            if sentence and _has_content(sentence):
                yield sentence


def _has_content(text: str) -> bool:
    content = [word for word in analyze_query(text) if not word.is_stop_word]
    if len(content) >= LEAST_CONTENT_WORDS:
        return True
    unspaced = sum(character >= _FIRST_UNSPACED and character.isalpha() for character in text)
    return unspaced >= _LEAST_UNSPACED_CHARACTERS


def _split_sentence(sentence: str, lists: WordLists) -> Iterator[Statement]:
    body = _OPENING.sub("", sentence).strip()
    for clause in _clauses(body, lists):
        yield from _split_chain(clause, sentence, lists)


def _clauses(body: str, lists: WordLists) -> list[str]:
    """Clauses that stand on their own: each has a verb that joins two things."""
    clauses: list[str] = []
    for part in (each.strip(_END_SIGNS) for each in _CONTRAST.split(body)):
        if clauses and not (_has_content(part) and _find_verb(part, lists)):
            clauses[-1] = f"{clauses[-1]}, {part}"
        else:
            clauses += _split_shared_subject(part, lists)
    return [clause for clause in clauses if _has_content(clause)]


def _split_shared_subject(clause: str, lists: WordLists) -> list[str]:
    """`A raises B and lowers C` says two things of A."""
    verb = _find_verb(clause, lists)
    if verb is None or verb.start() == 0:
        return [clause]
    subject = clause[: verb.start()].strip()
    is_plural = not verb[0].lower().endswith(("s", "ed")) and verb[0].lower() not in _LEADS
    parts, at = [], 0
    for found in _AND.finditer(clause, verb.end()):
        following = _WORD.match(clause, found.end())
        if following and _is_verb(following[0], lists, is_plural=is_plural):
            parts.append(clause[at : found.start()])
            at = found.end()
    parts.append(clause[at:])
    first, *others = [part.strip(_END_SIGNS) for part in parts]
    return [first, *(f"{subject} {other}" for other in others)]


def _find_verb(clause: str, lists: WordLists) -> re.Match[str] | None:
    """The first verb that joins two things, or what leads to it (a modal, a negation)."""
    for before, word in pairwise(_WORD.finditer(clause)):
        if before[0].lower() in _LEADS:
            if stem_word(fold_text(word[0])) in lists.linking:
                return before
        elif _is_verb(word[0], lists, is_plural=before[0].endswith("s")):
            return word
    return None


def _is_verb(word: str, lists: WordLists, *, is_plural: bool) -> bool:
    """Whether a word is a verb that joins two things; the bare form only after a plural."""
    folded = fold_text(word)
    if not folded.endswith(("s", "ed")) and not is_plural:
        return False
    return stem_word(folded) in lists.linking


def _split_chain(clause: str, source: str, lists: WordLists) -> Iterator[Statement]:
    """`A lowers B via C` says that A lowers B, and links A to C and C to B."""
    cut = _find_bridge(clause, lists)
    verb = _find_verb(clause, lists)
    if cut is None or verb is None or verb.start() >= cut[0]:
        yield Statement(clause, StatementKind.CLAIM, source)
        return
    claim, bridge = clause[: cut[0]].strip(_END_SIGNS), clause[cut[1] :].strip(_END_SIGNS)
    subject, rest = claim[: verb.start()].strip(), claim[verb.end() :]
    object_ = _drop_leading_verb(rest, lists)
    yield Statement(claim, StatementKind.CLAIM, source)
    doing = _WORD.match(bridge)
    if (
        doing
        and doing[0].lower().endswith("ing")
        and stem_word(fold_text(doing[0])) in lists.linking
    ):
        thing = bridge[doing.end() :].strip()
        yield Statement(f"{subject} {doing[0]} {thing}", StatementKind.CLAIM, source)
        bridge = thing
    else:
        yield Statement(f"{subject} is linked to {bridge}", StatementKind.LINK, source)
    yield Statement(f"{bridge} is linked to {object_}", StatementKind.LINK, source)


def _find_bridge(clause: str, lists: WordLists) -> tuple[int, int] | None:
    words = "|".join(re.escape(each) for each in lists.through)
    found = re.search(rf",?\s+(?:{words})\s+", clause, re.IGNORECASE) or _BY_DOING.search(clause)
    if found is None or not clause[found.end() :].strip(_END_SIGNS):
        return None
    return found.start(), found.end()


def _drop_leading_verb(rest: str, lists: WordLists) -> str:
    """What a verb is about, without the verb that a modal or a negation led to."""
    word = _WORD.search(rest)
    while word and (
        stem_word(fold_text(word[0])) in lists.linking or word[0].lower() in {"not", "be", "to"}
    ):
        rest = rest[word.end() :]
        word = _WORD.search(rest)
    return rest.strip(_END_SIGNS)
