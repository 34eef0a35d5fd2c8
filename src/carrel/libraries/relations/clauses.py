"""Subjects and objects around a verb, by the closed classes and the common verbs of papers."""

from collections.abc import Sequence
from enum import Enum

from carrel.libraries.relations.lexicon import Lexicon
from carrel.libraries.relations.tokens import Token

Span = tuple[int, int]

LONGEST_ARGUMENT = 30
_STOPS_LEFT = frozenset(
    {"relative", "subordinator", "pronoun", "modal", "be", "have", "do", "contrast", ";", ":", "?"}
)
_STOPS_RIGHT = frozenset(
    {
        "relative", "subordinator", "pronoun", "modal", "be", "have", "do", "contrast", ";", ":",
        "?", "finite",
    }
)  # fmt: skip
_ENDS_OBJECT = frozenset(
    {
        "by", "via", "through", "thereby", "upon", "when", "without", "despite", "than",
        "following", "during", "independently", "irrespective", "regardless", "as", "after",
        "before",
    }
)  # fmt: skip
_VERBAL = frozenset({"pronoun", "modal", "be", "have", "do"})
_SKIPPED = frozenset({"adverb", "negation"})
_AUXILIARY = frozenset({"modal", "be", "have", "do", "negation", "adverb"})
_FINITE = frozenset({"modal", "be", "have", "do", "finite", "past"})
_PRESENT_PARTICIPLES = frozenset({"involving", "including", "containing", "using", "suggesting"})


class _Border(Enum):
    """What ends a noun phrase on its left."""

    NONE = 0
    PHRASE = 1
    VERB = 2
    COPULA = 3
    APPOSITION = 4
    INFINITIVE = 5


class ClauseReader:
    """Finds the noun phrases of one tokenised sentence."""

    def __init__(self, tokens: Sequence[Token], lexicon: Lexicon) -> None:
        self.tokens = tokens
        self.lexicon = lexicon

    def tag(self, place: int) -> str:
        """The class of the token at a place, `end` outside the sentence."""
        return self.tokens[place].tag if 0 <= place < len(self.tokens) else "end"

    def word(self, place: int) -> str:
        """The lower-case word at a place, empty outside the sentence."""
        return self.tokens[place].word if 0 <= place < len(self.tokens) else ""

    def back_over(self, place: int, tags: frozenset[str] = _SKIPPED) -> int:
        """The place before a run of tokens of some classes that ends before `place`."""
        place -= 1
        while place >= 0 and self.tag(place) in tags:
            place -= 1
        return place

    def verb_start(self, place: int) -> int:
        """Where the verb group begins that the verb at `place` ends."""
        start = place
        while self.tag(start - 1) in _AUXILIARY:
            start -= 1
        while self.tag(start) == "adverb" and start < place:
            start += 1
        return start

    def subject_before(self, verb_start: int) -> Span | None:
        """The noun phrase that a verb group is about."""
        last = verb_start - 1
        while self.tag(last) == "adverb":
            last -= 1
        tag = self.tag(last)
        if tag == "relative":
            return self._antecedent(last)
        if tag in ("conjunction", "contrast"):
            return self.subject_of_previous(last)
        if tag == ",":
            return self._over_insertion(last)
        return self._phrase_ending(last)

    def _antecedent(self, relative: int) -> Span | None:
        last = relative - 1
        if self.word(relative) in ("who", "which", "that"):
            while self.tag(last) in ("preposition", "adverb"):
                last -= 1
            if self.tag(last) == ",":
                last -= 1
                if self._follows_place(last):
                    return None
            if self.tag(last) in _FINITE and self.word(last) in self.lexicon.report_verbs:
                return None
            return self._phrase_ending(last, is_antecedent=True)
        return None

    def _follows_place(self, last: int) -> bool:
        # "recruits cells to the brain, which causes pain": what causes it is not the brain.
        while last > 0 and self.tag(last) in ("word", "determiner", "adverb", "past"):
            last -= 1
        return self.tag(last) in ("preposition", "to") and self.word(last) != "of"

    def _over_insertion(self, comma: int) -> Span | None:
        # "X, which does Z, verb" and "X, a kinase, verb"; a comma after an opening phrase is none.
        opening = comma - 1
        while opening > 0 and self.tag(opening) != ",":
            if self.tag(opening) in (";", ":"):
                return None
            opening -= 1
        if opening <= 0:
            return None
        following = self.tag(opening + 1)
        inserted = self.word(opening + 1).endswith("ing") or self.word(opening + 1).endswith("ed")
        if following in ("relative", "determiner", "preposition", "subordinator") or inserted:
            return self._phrase_ending(opening - 1)
        return None

    def noun_before(self, place: int) -> Span | None:
        """The noun phrase right before a participle: "events" in "series of events leading to"."""
        last = place - 1
        while self.tag(last) == "adverb":
            last -= 1
        return self._phrase_ending(last, is_antecedent=True)

    def phrase_before(self, place: int) -> Span | None:
        """The noun phrase that ends before a place."""
        return self._phrase_ending(place - 1)

    def subject_of_previous(self, place: int) -> Span | None:
        """The subject of the nearest verb before a place."""
        governor = self.governor(place)
        if governor is None:
            return None
        start = self.verb_start(governor)
        return self.subject_before(start)

    def governor(self, place: int) -> int | None:
        """The nearest finite verb before a place, within the clause."""
        for at in range(place - 1, -1, -1):
            tag = self.tag(at)
            if tag in (";", ":", "subordinator"):
                return None
            if tag in ("be", "have", "do", "modal", "finite"):
                return at if self._is_finite(at) else None
            if self._is_simple_verb(at):
                return at
        return None

    def _is_finite(self, at: int) -> bool:
        return not (self.word(at) in ("be", "being", "having") and self.tag(at - 1) != "modal")

    def _is_simple_verb(self, at: int) -> bool:
        word, before = self.word(at), self.tag(self.back_over(at))
        if self.tag(at) == "past" or word in self.lexicon.triggers:
            forms = {trigger.form.value for trigger in self.lexicon.triggers.get(word, ())}
            if self.tag(at) == "past":
                forms.add("past")
            if "past" in forms:
                follows = self.tag(at + 1)
                return before == "word" and follows in ("determiner", "word", "to", "adverb")
            if "third person" in forms:
                return before in ("word", "relative") and self.tag(at + 1) != "preposition"
        if word in self.lexicon.base_verbs and before == "word":
            return self.tokens[self.back_over(at)].is_plural
        return word in self.lexicon.base_verbs and before == "," and self.tag(at + 1) == "word"

    def _phrase_ending(self, last: int, *, is_antecedent: bool = False) -> Span | None:
        if self.tag(last) not in ("word", "past", "finite", "determiner", "pronoun"):
            return None
        first = last + 1
        has_conjunction = False
        border = _Border.NONE
        while first > 0 and last - first < LONGEST_ARGUMENT:
            border = self._border(first - 1, has_conjunction)
            if border is _Border.NONE and is_antecedent:
                border = self._border_of_antecedent(first - 1)
            if border is not _Border.NONE:
                break
            has_conjunction = has_conjunction or self.tag(first - 1) == "conjunction"
            first -= 1
        match border:
            case _Border.VERB:
                return None
            case _Border.COPULA:
                if not is_antecedent:
                    return None
                if any(self.tag(at) == "preposition" for at in range(first, last + 1)):
                    return self._trimmed(first, last + 1)
                return self._owner_of_copula(first - 1)
            case _Border.APPOSITION:
                return self._phrase_ending(first - 2, is_antecedent=True)
            case _Border.INFINITIVE:
                return self._trimmed(first + 1, last + 1) if is_antecedent else None
            case _:
                return self._within_border(first, last, is_antecedent=is_antecedent)

    def _within_border(self, first: int, last: int, *, is_antecedent: bool) -> Span | None:
        if self.tag(first - 1) == "relative" and self._is_verb(first):
            # "mechanisms that regulate growth may lead to": the verb is about the mechanisms.
            return self._phrase_ending(first - 2)
        if (
            is_antecedent
            and self.word(first).endswith("ing")
            and self.tag(first + 1) == "determiner"
        ):
            first += 2
        return self._trimmed(first, last + 1)

    def _is_verb(self, at: int) -> bool:
        if self.tag(at) == "finite" or self.word(at) in self.lexicon.base_verbs:
            return True
        forms = {trigger.form.value for trigger in self.lexicon.triggers.get(self.word(at), ())}
        return bool(forms & {"base", "third person"})

    def _border(self, at: int, has_conjunction: bool) -> _Border:
        tag = self.tag(at)
        if tag in _STOPS_LEFT:
            if tag == "be":
                return _Border.COPULA
            return _Border.VERB if tag in _VERBAL else _Border.PHRASE
        if tag == ",":
            is_list = has_conjunction and self._is_list_comma(at)
            return _Border.NONE if is_list else _Border.PHRASE
        if tag == "to" and self._is_infinitive(at):
            is_ability = self.word(at - 1) in self.lexicon.ability
            return _Border.NONE if is_ability else _Border.INFINITIVE
        ends = (
            (tag == "conjunction" and self._joins_clauses(at))
            or (tag in ("past", "finite") and self._ends_phrase(at))
            or self._is_report(at)
        )
        return _Border.PHRASE if ends else _Border.NONE

    def _border_of_antecedent(self, at: int) -> _Border:
        if self.word(at) == "as":
            return _Border.APPOSITION
        is_place = self.tag(at) in ("preposition", "to") and self.word(at) != "of"
        return _Border.PHRASE if is_place else _Border.NONE

    def _is_report(self, at: int) -> bool:
        # "studies reveal X was": a plural with a verb that takes a clause.
        word = self.word(at)
        return (
            word in self.lexicon.report_verbs
            and word in self.lexicon.base_verbs
            and at > 0
            and self.tokens[at - 1].is_plural
        )

    def _owner_of_copula(self, copula: int) -> Span | None:
        # "X is a protein that inhibits Y": X inhibits Y.
        start = self.verb_start(copula)
        if self.tag(start - 1) in ("pronoun", "end", "be"):
            return None
        return self.subject_before(start)

    def _ends_phrase(self, at: int) -> bool:
        before = self.tag(at - 1)
        if before in ("determiner", "preposition"):
            return False
        if before == "conjunction":
            return self.tag(at + 1) == "determiner"
        if self.tag(at) == "finite" or self.word(at) in self.lexicon.report_verbs:
            return True
        # A past form before a preposition is a participle: "proteins produced by cells".
        return self.tag(at + 1) not in ("preposition", "to") or self.tag(at - 1) != "word"

    def _is_infinitive(self, at: int) -> bool:
        while self.tag(at + 1) == "adverb":
            at += 1
        following = self.word(at + 1)
        if self.tag(at + 1) == "word" and self.word(at + 2) in ("the", "a", "an", "its", "their"):
            return True
        return following in self.lexicon.base_verbs or any(
            trigger.form.value == "base" for trigger in self.lexicon.triggers.get(following, ())
        )

    def _is_list_comma(self, at: int) -> bool:
        # A list has short items: another comma or the list's start within six words, no verb.
        for before in range(at - 1, max(-1, at - 7), -1):
            tag = self.tag(before)
            if tag in ("finite", "be", "have", "modal", "relative", "subordinator", "pronoun"):
                return False
            if tag in (",", "determiner") or before == 0:
                return self.tag(0) != "preposition" or before > 0
        return False

    def _joins_clauses(self, at: int) -> bool:
        # "… and" after a verb's object: the words before hold a finite verb in the same clause.
        if self.tag(at - 1) == ",":
            return not self._is_in_list(at - 1)
        if self.word(at + 1) in ("this", "these", "that", "it"):
            return True
        for before in range(at - 1, max(-1, at - 12), -1):
            tag = self.tag(before)
            if tag in (",", "relative", ";", ":", "subordinator"):
                return False
            if tag in ("finite", "be", "have", "modal", "do"):
                return True
            if self._is_simple_verb(before):
                return self.word(before) not in self.lexicon.report_verbs
        return False

    def object_after(self, place: int, *, is_agent: bool = False) -> Span | None:
        """The noun phrase that begins at a place."""
        first = place
        while self.tag(first) == "adverb":
            first += 1
        if self.tag(first) not in ("word", "determiner", "past", "finite", "negation"):
            return None
        last = first
        while last < len(self.tokens) and last - first < LONGEST_ARGUMENT:
            if last > first and self._stops_object(last, first, is_agent=is_agent):
                break
            last += 1
        return self._trimmed(first, last)

    def _stops_object(self, at: int, first: int, *, is_agent: bool) -> bool:
        tag, word = self.tag(at), self.word(at)
        if tag in _STOPS_RIGHT:
            return True
        if word in _ENDS_OBJECT and not (is_agent and word == "as"):
            return True
        if tag == ",":
            return not (self._joins_adjectives(at) or self._continues_list(at))
        if tag == "conjunction":
            return self._starts_verb(at + 1) or self._starts_clause(at + 1)
        if tag == "past":
            return self.tag(at - 1) == "word" and self.tag(at + 1) == "determiner"
        if tag == "to":
            return self._is_infinitive(at)
        return word in _PRESENT_PARTICIPLES

    def _joins_adjectives(self, at: int) -> bool:
        # "sustained, high-frequency transmission"
        before = self.tokens[at - 1]
        is_adjective = before.is_adjective or before.word.endswith("ed")
        return is_adjective and self.tag(at + 1) == "word" and self.tag(at + 2) == "word"

    def _starts_clause(self, at: int) -> bool:
        # "… and Z protected cells": another subject and its verb follow.
        for after in range(at, min(len(self.tokens), at + 9)):
            tag = self.tag(after)
            if tag in (",", "relative", "subordinator", ";", ":"):
                return False
            if tag in ("finite", "be", "have", "modal", "do"):
                return True
            if after > at and self._is_past_with_object(after):
                return True
        return False

    def _is_past_with_object(self, at: int) -> bool:
        is_past = self.tag(at) == "past" or any(
            trigger.form.value == "past" for trigger in self.lexicon.triggers.get(self.word(at), ())
        )
        return is_past and self.tag(at - 1) == "word" and self.tag(at + 1) == "determiner"

    def _continues_list(self, at: int) -> bool:
        # "A, B, and C": after the comma a short item that a comma or a conjunction ends.
        if self.tag(at + 1) == "conjunction":
            return self._is_in_list(at) and self._ends_list(at + 2)
        for after in range(at + 1, min(len(self.tokens), at + 7)):
            tag = self.tag(after)
            if tag in ("finite", "be", "have", "modal", "relative", "subordinator", "pronoun",
                       "preposition", "contrast"):  # fmt: skip
                return False
            word = self.word(after)
            if word.endswith("ing") and after == at + 1:
                return False
            if tag == "conjunction":
                return self._ends_list(after + 1)
            if tag == ",":
                return self._continues_list(after)
        return False

    def _is_in_list(self, at: int) -> bool:
        # A comma before "and" ends a list only where another comma stands a few words before.
        return any(self.tag(before) == "," for before in range(max(0, at - 8), at))

    def _ends_list(self, at: int) -> bool:
        if self._starts_verb(at):
            return False
        return all(
            self.tag(after) not in ("finite", "be", "have", "modal", "pronoun")
            for after in range(at, min(len(self.tokens), at + 4))
        ) and not self._starts_clause(at)

    def _starts_verb(self, at: int) -> bool:
        while self.tag(at) == "adverb":
            at += 1
        tag, word = self.tag(at), self.word(at)
        if tag in (
            "be",
            "have",
            "do",
            "modal",
            "finite",
            "pronoun",
            "to",
            "relative",
            "subordinator",
        ):
            return True
        forms = {trigger.form.value for trigger in self.lexicon.triggers.get(word, ())}
        if word in self.lexicon.base_verbs:
            forms.add("base")
        if "third person" in forms or "gerund" in forms:
            return True
        if "past" in forms or tag == "past":
            return self.tag(at + 1) in ("determiner", "preposition", "adverb", "word")
        return "base" in forms and self.tag(at + 1) in ("determiner", "word", "adverb")

    def _trimmed(self, first: int, last: int) -> Span | None:
        while first < last and (
            self.tag(first) in ("adverb", ",", "conjunction", "preposition", "contrast")
            or self.word(first) in ("the", "a", "an", "no", "not")
        ):
            if self.tag(first) == "preposition":
                comma = next((at for at in range(first, last) if self.tag(at) == ","), None)
                if comma is None:
                    return None
                first = comma
            first += 1
        while first < last and self.tag(last - 1) in (
            "adverb", ",", "conjunction", "preposition", "determiner", "to", "contrast", "negation",
        ):  # fmt: skip
            last -= 1
        if first >= last or self._says_nothing(first, last):
            return None
        return first, last

    def _says_nothing(self, first: int, last: int) -> bool:
        words = [
            token
            for token in self.tokens[first:last]
            if token.tag in ("word", "past", "finite", "pronoun")
        ]
        return not words or (
            len(words) <= 2 and all(token.word in self.lexicon.empty for token in words)
        )
