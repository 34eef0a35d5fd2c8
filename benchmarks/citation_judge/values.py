"""Values from which the families of small styles draw: names, dates, titles, numbers, options."""

from __future__ import annotations

import random
from typing import Any

PRECEDES = ("contextual", "always", "never", "after-inverted-name")
GIVENNAME_RULES = (
    "all-names", "all-names-with-initials", "primary-name", "primary-name-with-initials", "by-cite",
)  # fmt: skip
YEAR_COLLAPSES = ("year", "year-suffix", "year-suffix-ranged")
POSITIONS = ("first", "subsequent", "ibid", "ibid-with-locator", "near-note")
SUBSTITUTE_RULES = ("complete-all", "complete-each", "partial-each", "partial-first")
PAGE_FORMATS = ("chicago", "chicago-15", "chicago-16", "minimal", "minimal-two", "expanded")
CASES = ("title", "sentence", "capitalize-first", "capitalize-all", "uppercase", "lowercase")
LOCALES = (
    "de-DE", "fr-FR", "es-ES", "it-IT", "nl-NL", "pt-BR", "ru-RU", "pl-PL", "sv-SE", "ja-JP",
    "zh-CN", "en-GB", "cs-CZ", "hu-HU", "tr-TR", "ar", "he-IL", "ca-AD",
)  # fmt: skip

NAMES: tuple[dict[str, Any], ...] = (
    {"family": "Doe", "given": "John"},
    {"family": "Roe", "given": "Jane Mary"},
    {"family": "Poe", "given": "E. A."},
    {"family": "Loo", "given": "Jean-Luc"},
    {"family": "Noe", "given": "Ph. M.-E."},
    {"family": "Gogh", "given": "Vincent", "non-dropping-particle": "van"},
    {"family": "Beethoven", "given": "Ludwig", "dropping-particle": "von"},
    {
        "family": "Fontaine",
        "given": "Jean",
        "dropping-particle": "de",
        "non-dropping-particle": "La",
    },
    {"family": "Aubignac", "given": "François", "dropping-particle": "d’"},
    {"family": "van der Vlist", "given": "Eric"},
    {"family": "Humboldt", "given": "Alexander von"},
    {"family": "d’Alembert", "given": "Jean"},
    {"family": "al-Rashid", "given": "Harun"},
    {"family": "King", "given": "Martin Luther", "suffix": "Jr."},
    {"family": "King", "given": "Martin", "suffix": "III", "comma-suffix": True},
    {"family": "Strunk", "given": "William, Jr."},
    {"literal": "The World Bank"},
    {"literal": "ACME & <i>Sons</i>"},
    {"family": "Plato"},
    {"given": "Madonna"},
    {"family": "毛", "given": "泽东"},
    {"family": "Τζούμα", "given": "Άννα"},
    {"family": "Булгаков", "given": "Михаил Афанасьевич"},
    {"family": "Mao", "given": "Zedong", "static-ordering": True},
    {"family": "O’Neil", "given": "Ann-marie"},
    {"family": "Smith Jones", "given": "Árpád Éva"},
    {"family": "MacDonald", "given": "JRR"},
    {"family": "Żak", "given": "Ju. Dż."},
)
PLAIN_NAMES: tuple[dict[str, Any], ...] = (
    {"family": "Doe", "given": "John"},
    {"family": "Doe", "given": "Jane"},
    {"family": "Doe", "given": "Alan"},
    {"family": "Roe", "given": "Robert"},
    {"family": "Roe", "given": "Rita"},
    {"family": "Poe", "given": "Edgar A."},
    {"family": "Loo", "given": "Lou"},
    {"literal": "The Club"},
)
SORT_NAMES: tuple[dict[str, Any], ...] = (
    {"family": "Doe", "given": "John"},
    {"family": "doe", "given": "Adam"},
    {"family": "Gogh", "given": "Vincent", "non-dropping-particle": "van"},
    {"family": "Ahlers", "given": "Zoe", "dropping-particle": "von"},
    {"family": "Ångström", "given": "A."},
    {"family": "Oestreich", "given": "B."},
    {"family": "Östman", "given": "C."},
    {"family": "Smith", "given": "A."},
    {"family": "Smith-Jones", "given": "A."},
    {"family": "Smithers", "given": "A."},
    {"family": "O’Neil", "given": "A."},
    {"literal": "The Club"},
    {"literal": "Zoo"},
)
DATES: tuple[dict[str, Any], ...] = (
    {"date-parts": [[2001]]},
    {"date-parts": [[2001, 5]]},
    {"date-parts": [[2001, 5, 3]]},
    {"date-parts": [["2001", "12", "31"]]},
    {"date-parts": [[2001], [2003]]},
    {"date-parts": [[2001, 5], [2001, 7]]},
    {"date-parts": [[2001, 5], [2002, 7]]},
    {"date-parts": [[2001, 5, 3], [2001, 5, 9]]},
    {"date-parts": [[2001, 5, 3], [2001, 7, 9]]},
    {"date-parts": [[2001, 12, 30], [2002, 1, 2]]},
    {"date-parts": [[2001]], "season": 1},
    {"date-parts": [[2001]], "season": "4"},
    {"date-parts": [[2001]], "season": "Trinity"},
    {"date-parts": [[2001, 13]]},
    {"date-parts": [[2001, 21]]},
    {"date-parts": [[2001]], "circa": 1},
    {"literal": "in press"},
    {"literal": "13th century"},
    {"raw": "2001-05-03"},
    {"raw": "May 3, 2001"},
    {"raw": "3 May 2001"},
    {"raw": "5/3/2001"},
    {"raw": "2001/2003"},
    {"raw": "1 May 2001 - 3 June 2002"},
    {"raw": "Spring 2001"},
    {"raw": "2001~"},
    {"raw": "2001-05/2001-07"},
    {"date-parts": [[-44, 3, 15]]},
    {"date-parts": [[-100], [-90]]},
    {"date-parts": [[99]]},
    {"date-parts": [[476, 9]]},
    {"date-parts": [[2001], [0]]},
)
SORT_DATES: tuple[dict[str, Any], ...] = (
    {"date-parts": [[2001]]},
    {"date-parts": [[2001, 5]]},
    {"date-parts": [[2001, 5, 3]]},
    {"date-parts": [[2001, 11]]},
    {"date-parts": [[2000], [2002]]},
    {"date-parts": [[2000]]},
    {"date-parts": [[-44]]},
    {"date-parts": [[90]]},
    {"raw": "2000-07"},
)
TITLES = (
    "A study of things", "The structure of the <i>E. coli</i> genome",
    "On DNA: a short history of it", "“Quoted” words and 'others'", 'He said "no"', "Is it true?",
    "Stop!", "the lower-case title", "ALL CAPITALS HERE", "A title that ends with a stop.",
    "H<sub>2</sub>O and CO<sup>2</sup>", "Of mice and men; and other tales",
    "What is <i>“life”</i>?", "l’homme et l’œuvre",
    "Title with <span class=\"nocase\">pH Value</span> kept",
    "An in-depth look at so-called x-rays", "From A to Z: the end", "iPhone use in the U.S.",
    "Notes & queries", "Rock 'n' roll", "The 'inner \"quote\" here' ends",
    "Pro et contra — a debate", "What's up with that",
    "One <b>bold</b> <i>italic <b>both</b></i> word", "one. two. three", "the end of the via",
    "<i>Whole italics</i>", "<span style=\"font-variant: small-caps;\">Small Caps</span> word",
    "A Cat’s Tale (and others)", "Wait…", "Ελληνικά και άλλα",
)  # fmt: skip
SORT_TITLES = (
    "A study", "The study", "“Quoted”", "<i>Italic</i> words", "10 things", "9 things", "alpha",
    "Alpha", "beta", "Étude", "Zebra", "a-b", "ab",
)  # fmt: skip
PUBLISHERS = ("Oxford Univ. Press", "MIT Press", "Wiley & Sons, Inc.", "Press?")
WORDS = ("word", "two words", ", and", "p.")
NUMBER_VARIABLES = (
    "page", "page", "locator", "locator", "volume", "issue", "edition", "number", "number-of-pages",
    "number-of-volumes", "chapter-number", "collection-number"
)  # fmt: skip
NUMBERS = (
    "1", "2", "3", "11", "12", "13", "21", "101", "112", "2nd", "3a", "IV", "iv", "1-3", "2 & 4",
    "12–14", "Suppl. 1", "special", "B", "1, 3", "1, 3-5", "100-104", "101-108", "321-328",
    "1496-1500", "1536-1538", "11564-11568", "42-45", "96-117", "107-8", "1002-6", "N110-N115",
    "N110-5", "e12", "E12-E18", "xi-xv", "12-14, 20", "10\\-12", "3-a", "2007-8", "1 - 5",
    "23,24", "1 and 2", "5th", "0012", "§ 3", "1.5", "1/2",
)  # fmt: skip
SORT_VARIABLES = (
    "author", "editor", "issued", "title", "volume", "citation-number", "container-title", "page",
)  # fmt: skip
PLAIN_VARIABLES = ("title", "publisher", "page", "volume", "container-title", "note")
PLAIN_FIELDS: dict[str, Any] = {
    "title": "Title",
    "publisher": "Press",
    "page": "1-3",
    "volume": "7",
    "container-title": "Journal",
    "author": [{"family": "Doe", "given": "Jane"}],
    "editor": [{"family": "Roe", "given": "Ann"}, {"family": "Poe", "given": "Max"}],
    "issued": {"date-parts": [[2000]], "circa": 1},
}


def draw_name(draws: random.Random) -> dict[str, Any]:
    return dict(draws.choice(NAMES[:5] if draws.random() < 0.4 else NAMES))


def draw_plain_name(draws: random.Random) -> dict[str, Any]:
    return dict(draws.choice(PLAIN_NAMES))
