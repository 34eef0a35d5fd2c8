"""Why a search found nothing: what was searched, which words nothing has, and what comes near."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from carrel.libraries.query.suggestions import suggest_spelling
from carrel.libraries.text.analysis import QUESTION_WORDS
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import STOP_WORDS, split_words

MAX_NEAREST = 5
_MAX_SHOWN_WORDS = 8


@dataclass(frozen=True, slots=True)
class FilterEffect:
    """A filter of a query as typed (`year:2030`), and how many documents fit it alone."""

    typed: str
    matches: int
    # How many documents fit everything but this filter.
    without_it: int = 0


@dataclass(frozen=True, slots=True)
class AskedTerm:
    """A word of a query as typed, and in how many documents it is."""

    typed: str
    documents: int


@dataclass(frozen=True, slots=True)
class EmptyAnswer:
    """The facts and, in `message`, the same as sentences."""

    searched: str
    documents: int
    unmatched_words: tuple[str, ...] = ()
    did_you_mean: dict[str, list[str]] = field(default_factory=dict)
    unmatched_filters: tuple[str, ...] = ()
    removing_filters: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    next_step: str = ""
    # Words that were asked for and are not too common to search by.
    searched_words: tuple[str, ...] = ()
    # Words that are too common to search by, and were skipped.
    common_words: tuple[str, ...] = ()
    asks_nothing: bool = False
    # The argument that limited the search to `documents`, such as within.
    limited_by: str = ""

    @property
    def message(self) -> str:
        return " ".join(_sentences(self))

    @property
    def partial_message(self) -> str:
        """What to say beside hits that have most of the words."""
        said = [f"None of {self.documents:,} {self.searched} has all the words; these have most."]
        return " ".join([*said, *self.notices, *_word_sentences(self)])


def explain_empty(
    searched: str,
    documents: int,
    *,
    words: Iterable[AskedTerm] = (),
    filters: Iterable[FilterEffect] = (),
    known_words: Callable[[str], Iterable[tuple[str, int]]] | None = None,
    nearest: Sequence[str] = (),
    notices: Sequence[str] = (),
    next_step: str = "",
    asks_nothing: bool = False,
    limited_by: str = "",
) -> EmptyAnswer:
    """Explain an answer that is empty.

    `searched` names the things (`papers`), `documents` how many there are. `known_words(word)`
    gives words like a mistyped one with their document counts; `nearest` names things that exist.
    `asks_nothing` is a query without any word or filter; `limited_by` names the argument that
    limited the search to these documents.
    """
    typed = list(dict.fromkeys(words))
    asked = [word for word in typed if not _is_common(word.typed)]
    common = tuple(word.typed for word in typed if _is_common(word.typed))
    unmatched = [word.typed for word in asked if not word.documents]
    suggestions: dict[str, list[str]] = {}
    if known_words is not None:
        for word in unmatched[:_MAX_SHOWN_WORDS]:
            found = suggest_spelling(word, known_words(fold_text(word)))
            if found:
                suggestions[word] = found
    kept = list(filters)
    empty = tuple(each.typed for each in kept if not each.matches)
    removing = tuple(each.typed for each in kept if each.matches and each.without_it)
    return EmptyAnswer(
        searched,
        documents,
        tuple(unmatched),
        suggestions,
        empty,
        removing,
        tuple(nearest[:MAX_NEAREST]),
        tuple(notices),
        next_step
        or _choose_next_step(
            documents,
            len(asked),
            unmatched,
            suggestions,
            # What is asked alone cannot be left out.
            (*empty, *removing) if asked or len(kept) > 1 else (),
            searched,
            limited_by,
            has_filters=bool(kept),
        ),
        tuple(word.typed for word in asked),
        common,
        asks_nothing,
        limited_by,
    )


def _is_common(typed: str) -> bool:
    """Whether a search skips the word because nearly every text has it."""
    parts = split_words(fold_text(typed))
    return bool(parts) and all(part in STOP_WORDS or part in QUESTION_WORDS for part in parts)


def _choose_next_step(
    documents: int,
    asked: int,
    unmatched: Sequence[str],
    suggestions: dict[str, list[str]],
    filters: Sequence[str],
    searched: str,
    limited_by: str,
    *,
    has_filters: bool,
) -> str:
    if not documents:
        return f"Add {searched} first."
    if suggestions:
        word, found = next(iter(suggestions.items()))
        return f"Ask again with {found[0]} instead of {word}."
    if filters:
        return f"Leave out {filters[0]}."
    if unmatched and len(unmatched) < asked:
        return f"Leave out {unmatched[0]}."
    if limited_by and not unmatched:
        return f"Ask without {limited_by}, or with other words."
    if not asked and has_filters:
        return "Check its spelling, or ask with plain words."
    if not asked:
        return f"Ask with words that the {searched} should have."
    return "Ask with other words." if asked == 1 else "Ask with fewer or other words."


def _sentences(empty: EmptyAnswer) -> Iterable[str]:
    if not empty.documents:
        yield f"There are no {empty.searched} yet."
    elif empty.limited_by:
        things = _singular(empty) if empty.documents == 1 else empty.searched
        yield (
            f"Nothing was found: {empty.limited_by} limited the search to "
            f"{empty.documents:,} {things}."
        )
    else:
        yield f"Nothing was found in {empty.documents:,} {empty.searched}."
    yield from empty.notices
    if empty.documents:
        yield from _asked_sentences(empty)
    yield from _word_sentences(empty)
    for typed in empty.unmatched_filters:
        yield f"Nothing fits {typed}."
    for typed in empty.removing_filters:
        yield f"Without {typed} there would be something."
    if empty.nearest:
        yield f"Nearest: {'; '.join(empty.nearest)}."
    yield empty.next_step


def _singular(empty: EmptyAnswer) -> str:
    return empty.searched.removesuffix("s")


def _asked_sentences(empty: EmptyAnswer) -> Iterable[str]:
    """Why nothing fits where no single word or filter is the reason."""
    if empty.unmatched_words or empty.unmatched_filters or empty.removing_filters:
        return
    if empty.asks_nothing:
        yield "No word was asked for."
    elif empty.searched_words and empty.limited_by:
        yield "Every word occurs, but not where the search was limited to."
    elif empty.searched_words:
        yield f"Every word occurs, but no {_singular(empty)} has all that was asked for."
    elif empty.common_words:
        yield "Only words too common to search by were asked for."


def _word_sentences(empty: EmptyAnswer) -> Iterable[str]:
    if empty.documents and empty.unmatched_words:
        shown = ", ".join(empty.unmatched_words[:_MAX_SHOWN_WORDS])
        yield f"No {_singular(empty)} has: {shown}."
    for word, found in empty.did_you_mean.items():
        yield f"{word} may be misspelled: {', '.join(found)}?"
