"""What a plain sentence asks for: to read or to change, and the things of which room."""

from __future__ import annotations

import re
from dataclasses import dataclass

from carrel.core.operation import Effect

# Said before what is wanted: "how do I …" asks for a change as often as "please …".
_PREFACE = re.compile(
    r"^(?:(?:hi|hello|hey|please|kindly|just|now|then|and|so|ok|okay)\W+|"
    r"(?:how (?:do|can|could|would|should) (?:i|we|you)|how to|(?:can|could|would|will) you|"
    r"(?:is there|do you have) (?:a|any) way to|"
    r"(?:i|we) (?:want|need|would like|like|wish|have) (?:you )?to|i'?d like (?:you )?to|"
    r"help me(?: to)?|let'?s)\W+)+"
)
_QUESTION = re.compile(
    r"(?:which|what|whats|who|whose|where|when|why|how|is|are|was|were|does|do|did|has|have|had|"
    r"list|show|see|tell|view|display|browse|count|read|"
    r"let me (?:see|look|read)|give me the|any|anything)\b"
)
# Anywhere in a sentence: something is to be different afterwards.
_CHANGE = re.compile(
    r"\b(?:add|append|assign|attach|cancel|change|clear|correct|delete|detach|discard|drop|edit|"
    r"erase|fix|import|label|merge|overwrite|pause|put|remove|rename|replace|restore|resume|"
    r"revert|rewrite|save|set|split|stop|submit|tag|throw|undo|unmerge|upload|write)\b"
)
_WORDS_BY_ROOM = {
    "papers": "paper article study publication manuscript preprint pdf corpus trial",
    "references": "reference library bibliography bib entry zotero endnote",
    "literature": "literature outside online internet web database pubmed medline openalex "
    "crossref arxiv biorxiv unpaywall alert retraction retracted withdrawn digest",
    "knowledge": "note notebook memo knowledge wording",
    "research": "hypothesis hypotheses idea project investigation research run tournament",
}
_ROOM_WORDS = {
    room: re.compile(rf"\b(?:{'|'.join(words.split())})s?\b")
    for room, words in _WORDS_BY_ROOM.items()
}
_PLURAL_IES = re.compile(r"\b(stud|entr|librar|bibliograph)ies\b")


@dataclass(frozen=True, slots=True)
class SentenceKinds:
    """Whether a sentence asks, whether it wants a change, and the rooms whose things it names."""

    is_question: bool
    wants_change: bool
    rooms: frozenset[str]

    def suits_effect(self, effect: Effect) -> bool:
        """Whether an operation of this effect may be meant; where nothing is plain, any may."""
        if self.is_question == self.wants_change:
            return True
        return (effect is Effect.READS) == self.is_question

    def suits_room(self, room: str) -> bool:
        """Whether the sentence names things of the room; one that names nothing suits all."""
        return not self.rooms or room in self.rooms or room not in _WORDS_BY_ROOM


def recognize_kinds(sentence: str) -> SentenceKinds:
    """Reads off a sentence, by its first words and its nouns, what kind of operation is meant."""
    plain = _PLURAL_IES.sub(r"\1y", sentence.lower().replace("’", "'"))
    asked = plain[found.end() :] if (found := _PREFACE.match(plain)) else plain
    is_question = bool(_QUESTION.match(asked))
    wants_change = not is_question and bool(_CHANGE.search(asked))
    rooms = frozenset(room for room, words in _ROOM_WORDS.items() if words.search(plain))
    return SentenceKinds(is_question, wants_change, rooms)
