"""Names with a letter or number in them, which extraction cuts: `vitamin D`, `type 2 diabetes`."""

from collections.abc import Iterator, Sequence

from carrel.libraries.discovery.concepts.words import normal_phrase, words_of
from carrel.libraries.discovery.goals.goal_words import is_aspect
from carrel.libraries.discovery.goals.records import GoalStatement
from carrel.libraries.discovery.records import Concepts
from carrel.libraries.discovery.tuned import GOALS


def adopt_whole_names(index: Concepts, statement: GoalStatement) -> None:
    """Make concepts of the names in a goal that extraction cuts, where papers have them."""
    named = (name for one in statement.constraints for name in one.names)
    for name in dict.fromkeys((*statement.subjects, *named)):
        for words in _cut_names(index, words_of(name)):
            index.adopt(normal_phrase(" ".join(words)), " ".join(words), GOALS.enough_documents)


def _cut_names(index: Concepts, words: Sequence[str]) -> Iterator[Sequence[str]]:
    for place, word in enumerate(words):
        if not place or not (len(word) == 1 or word.isdigit() or _is_code(word)):
            continue
        pair, triple = words[place - 1 : place + 1], words[place - 1 : place + 2]
        yield pair
        if len(triple) == 3 and not is_aspect(normal_phrase(triple[-1])):
            longer, shorter = (len(_papers(index, row)) for row in (triple, pair))
            if longer >= GOALS.one_name_share * shorter:
                yield triple


def _is_code(word: str) -> bool:
    """`K2`, `B12`, `1a`: a letter with digits."""
    return len(word) <= 3 and any(letter.isdigit() for letter in word)


def _papers(index: Concepts, words: Sequence[str]) -> list[int]:
    return index.documents_with(normal_phrase(" ".join(words)))
