"""Tells running text, citations and footnotes from lines by which a page speaks of itself."""

from __future__ import annotations

import re

from carrel.libraries.pdf_layout.front_words import MONTHS, as_set

# Addresses, DOIs and marks that are no words.
_NO_WORD = re.compile(r"://|@|\d/|\w\.\w")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# Lower-case words of heads, feet and lines on dates and rights.
_IMPRINT_WORDS = (
    as_set(
        """
        a an and at by for from in of on or the to with und der die das des für zur zum im von et la
        le les du de des en y el los las del e do da dos das di della van het voor i och og
        received accepted published publication revised submitted available online first final
        volume vol no nr num number issue pp pages page article articles paper research review
        letter original report open access version record preprint posted manuscript early view
        conference proceedings journal homepage contents lists issn isbn eissn copyright rights
        reserved all author authors license licence licensed under reuse guidelines permissions
        permission press publishing publisher society doi http https url id date special section
        supplement edition editor editors edited citation information corrected proof print
        eingegangen angenommen veröffentlicht reçu accepté publié ligne recibido aceptado publicado
        línea recebido aceito artículo artigo ricevuto accettato pubblicato
        may august jan april june mars mai marzo julio abril
        """
    )
    | MONTHS
)
# Words of sentences and citations, which such lines do not have.
_SENTENCE_WORDS = as_set(
    """
    we our ours us they their them he she it its his her you your i my use uses used using see cf
    follow follows followed following after is are was were be been has have had do does did
    which who whose that these those this there here where when than as also because although while
    show shows shown find finds found describe describes described discuss compare compared extend
    extends extended propose introduce introduced according thank thanks via against builds
    reproduced adapted taken supported funded presented reported given
    siehe vgl wir ist sind wurde voir nous est sont véase ver es son fue см
    """
)
_THIS_IS_OWN = re.compile(
    r"\bthis\s+(?:version\s+posted|(?:article|paper|work)\s+is\s+(?:licensed|distributed|published"
    r"|an\s+open)).*",
    re.IGNORECASE,
)
_MOST_UNKNOWN = 2
_LONGEST = 2_000
_BEGINS_WITH_PERSON = re.compile(
    r"^[^\W\d_][\w'’-]{1,30},?\s+(?:[A-Z]\.[\s-]?){1,4}(?:,|\(|[A-Z][a-z]+\s+[a-z])"
    r"|^(?:[A-Z]\.[\s-]?){1,4}[^\W\d_][\w'’-]{2,30}(?:,|\s+and\s|\s+&\s)"
)
_SENTENCE_THEN_MORE = re.compile(r"\s[a-zß-ÿ]{3,40}[.?!]\s+[A-Z]")
_BRACKET = re.compile(r"\[\d{1,3}(?:[,–-]\s?\d{1,3}){0,9}\]|\(\w[^()]{0,60},\s?\d{4}[a-z]?\)")
_FOOTNOTE = re.compile(
    r"^\s{0,3}(?:(?:\d{1,3}|\(\d{1,2}\)|[*∗†‡§¶#]{1,3})[.)]?\s{0,3}|[a-z][.)]?\s{1,3})"
    r"(?=[^\W\d_]{2}|[A-Z]\.|©|\(doi|https?:)"
)
_LABEL = re.compile(r"\(?\bdoi\b\W{0,3}$", re.IGNORECASE)
_JOINS = as_set("and or of the in on at by to from with for as see und et y via")


def _find_words(text: str) -> list[str]:
    parts = (part for part in text[:_LONGEST].split() if not _NO_WORD.search(part))
    return [word for part in parts for word in _WORD.findall(part)]


def find_unknown_words(text: str) -> list[str]:
    """The lower-case words that lines on journals, dates and rights do not have."""
    return [word for word in _find_words(text) if word.islower() and word not in _IMPRINT_WORDS]


def is_running_text(text: str, most_unknown: int = _MOST_UNKNOWN) -> bool:
    """Whether the text has words of a sentence, or more unknown words than a journal's name."""
    text = _THIS_IS_OWN.sub(" ", text[:_LONGEST])
    if any(
        word.lower() in _SENTENCE_WORDS and word not in ("IT", "US") for word in _find_words(text)
    ):
        return True
    return len(find_unknown_words(text)) > most_unknown


def has_sentence_word(text: str) -> bool:
    """Whether a word of sentences stands at the beginning or, in lower case, later on."""
    words = [word for word in _find_words(text) if len(word) > 1]
    return any(
        word.lower() in _SENTENCE_WORDS and (word.islower() or (at == 0 and not word.isupper()))
        for at, word in enumerate(words)
    )


def is_citation(text: str) -> bool:
    """Whether it begins with a person, has a title before a journal, or cites in brackets."""
    return bool(
        _BEGINS_WITH_PERSON.match(text[:200])
        or _SENTENCE_THEN_MORE.search(text[:400])
        or _BRACKET.search(text[:400])
    )


def is_footnote(text: str) -> bool:
    """Whether it begins with the mark of a note: "3 Jones", "* See"."""
    return bool(_FOOTNOTE.match(text[:40]))


def leads_on(text: str) -> bool:
    """Whether the text ends in a word that joins what follows to it: "and", "see"."""
    words = _LABEL.sub("", text).rstrip(" (").split()
    return bool(words) and words[-1].strip(",:;").lower() in _JOINS
