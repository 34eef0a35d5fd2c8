"""The language of a document, by its most frequent small words or its script."""

from __future__ import annotations

import re
from collections import Counter

from carrel.libraries.pdf_layout.content import PdfContent

_PAGES_READ = 4
_FEWEST_WORDS = 40
_FEWEST_LETTERS = 60
# A language is told by at least this share of small words, and this much ahead of the next.
_LEAST_SHARE = 0.12
_LEAST_LEAD = 1.4
_SMALL_WORDS = {
    "en": "the of and to in is for that with are this as be by on we from which it at an can",
    "de": "der die und das von den mit zu ist des im für auf nicht ein eine dem sich als auch",
    "fr": "de la le les et des en un une du est pour que dans par sur qui au avec ne sont plus",
    "es": "de la que el en y los se del las un por con una para es lo como al su más este",
    "it": "di e il la che in un del per una è della con i le si non da sono dei nel alla come",
    "pt": "de a o que e do da em um para com uma os no se na por mais as dos ao das é não",
    "nl": "de van het een en in is dat op te zijn met voor die niet aan er om ook als bij door",
    "sv": "och i att en som det är av för på med den till har de inte om ett eller kan",
    "pl": "i w na z do się nie jest że o to dla od przez po oraz jak które",
    "ru": "и в не на что с по для как это из к от при или он за его так также",
    "uk": "і в не на що з до для як це та від при або є за його також",
    "cs": "a v se na je že s z do pro jsou o které jako k být nebo pak od",
}
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = (
    ("ja", "\u3040", "\u30ff"),
    ("ko", "\uac00", "\ud7a3"),
    ("zh", "\u4e00", "\u9fff"),
    ("ar", "\u0600", "\u06ff"),
    ("he", "\u0590", "\u05ff"),
    ("el", "\u0370", "\u03ff"),
)


def guess_language(content: PdfContent) -> str | None:
    """The two-letter code, or None where the text is too short or mixed."""
    text = " ".join(
        line.text for page in content.pages[:_PAGES_READ] for line in page.lines if not line.angle
    )[:40_000].lower()
    letters = sum(letter.isalpha() for letter in text)
    if letters < _FEWEST_LETTERS:
        return None
    for code, first, last in _SCRIPTS:
        share = 0.1 if code == "ja" else 0.4
        if sum(first <= letter <= last for letter in text) > share * letters:
            return code
    words = Counter(_WORD.findall(text))
    total = sum(words.values())
    if total < _FEWEST_WORDS:
        return None
    shares = sorted(
        (
            (sum(words[word] for word in small.split()) / total, code)
            for code, small in _SMALL_WORDS.items()
        ),
        reverse=True,
    )
    (best, code), (second, _) = shares[:2]
    return code if best >= _LEAST_SHARE and best >= _LEAST_LEAD * second else None
