"""Families of pathological text: each makes about `size` characters of one shape."""

from __future__ import annotations

from collections.abc import Callable

Family = Callable[[int], str]


def repeated(unit: str, before: str = "", after: str = "") -> Family:
    """`unit` again and again."""

    def make(size: int) -> str:
        return before + unit * max(1, (size - len(before) - len(after)) // len(unit)) + after

    return make


def nested(opening: str, closing: str, inside: str = "x") -> Family:
    """As many levels as fit, all of them closed."""

    def make(size: int) -> str:
        levels = max(1, size // (len(opening) + len(closing)))
        return opening * levels + inside + closing * levels

    return make


def numbered(unit: str, before: str = "", after: str = "") -> Family:
    """`unit` with a running number in place of `#`."""

    def make(size: int) -> str:
        count = max(1, size // (len(unit) + 3))
        return before + "".join(unit.replace("#", str(number)) for number in range(count)) + after

    return make


_RUNS = {
    "letters": "a", "capitals": "A", "digits": "7", "spaces": " ", "line ends": "\n", "tabs": "\t",
    "carriage returns": "\r",
    "no-break spaces": "\u00a0", "backslashes": "\\", "dashes": "-", "underscores": "_",
    "stars": "*", "backticks": "`",
    "tildes": "~", "carets": "^", "dollars": "$", "percents": "%", "at signs": "@", "hashes": "#",
    "ampersands": "&",
    "commas": ",", "semicolons": ";", "colons": ":", "dots": ".", "slashes": "/", "bars": "|",
    "equals": "=", "pluses": "+",
    "single quotes": "'", "double quotes": '"', "curved quotes": "“", "curved apostrophes": "’",
    "exclamations": "!",
    "opening braces": "{", "closing braces": "}", "opening brackets": "[", "closing brackets": "]",
    "opening parentheses": "(", "closing parentheses": ")", "less than": "<", "greater than": ">",
    "combining marks": "e\u0301", "ideographs": "漢", "en dashes": "–", "ellipses": "…",
    "nulls": "\x00", "emoji": "😀",
    "dotless i": "ı", "sharp s": "ß", "right-to-left": "א",
}  # fmt: skip
_UNITS = {
    "words": "word ", "capital words": "Word ", "shouted words": "WORD ",
    "letters and spaces": "a ", "wide spaces": "a" + " " * 50,
    "and": " and ", "spaced and": "  and", "names": "van der Berg, A. B. and ",
    "initials": "A. B. ", "hyphened": "A-B-",
    "dashes and spaces": "- ", "commas and spaces": ", ", "semicolons and spaces": " ; ",
    "slashed digits": "1/", "ranges": "1-2, ",
    "years": "1999 ", "dates": "1999-01-01/", "months": "jan ", "dois": "10.1000/a ",
    "doi prefix": "10.1234/", "dotted": "10.1234.1",
    "urls": "http://a.b/c ", "url starts": "http://", "quotes and words": '"a ',
    "quoted words": '"a" ', "apostrophes": "a'b ",
    "sentences": "A b. ", "questions": "a? ", "emphasis": "*a ", "strong": "**a** ",
    "underscored": "_a_ ", "code": "`a ",
    "fences": "```\n", "tilde fences": "~~~\n", "fences of many lengths": "```\n````\n",
    "links": "[a](b) ", "link starts": "[a](",
    "images": "![a](b) ", "image starts": "![", "brackets": "[] ", "wiki links": "[[a]] ",
    "wiki link starts": "[[a", "tags": "#a ",
    "headings": "# a\n", "heading hashes": "# a # ", "rules": "- - - ", "table rows": "|a|\n",
    "long table row": "|a", "lists": "- a\n",
    "html": "<i>a</i> ", "html starts": "<i", "html opened": "<i>", "html closed": "</i>",
    "comments opened": "<!--", "tables opened": "<table ",
    "entities": "&amp;", "entity starts": "&a", "spans": '<span class="nocase">',
    "span starts": '<span class="',
    "tex commands": "\\emph ", "tex groups": "\\emph{", "tex accents": "\\'",
    "tex accents on commands": "\\'\\i", "tex fractions": "\\frac ",
    "tex maths": "$a$ ", "tex scripts": "$a^", "tex groups closed": "{\\'e}",
    "tex unknown": "\\foo", "tex url": "\\url{", "tex verb": "\\verb ",
    "tex declarations": "\\bf ", "tex optional": "\\foo[", "tex href": "\\href{a}{b} ",
    "braces and letters": "{a", "brace pairs": "{}", "brace pairs of letters": "{A}",
    "brace words": "{A} {b} ", "signs": "!?.,;: ", "field names": "author:", "fields": 'title:"a" ',
    "not": "NOT ", "and or": "a AND b OR ", "parens": "(a ",
    "prefixes": "a* ", "numbers": "1 ", "ordinals": "1st ", "roman": "iv ",
    "short forms": "abc (A) ", "short form starts": "abc (A", "greek": "alpha ", "leet": "a.b.c.d ",
    "percent comments": "%\n", "line continuations": "a\n ", "crlf": "a\r\n", "equal signs": "a=",
    "hash joins": "a # ", "colon lines": "a: b\n", "doubled words": "a a ",
    "spaces and commas": "  ,", "spaces and semicolons": "  ;", "spaces and dashes": "  -",
    "spaces and colons": "  :", "tag and space": "< i", "circa": "c ", "isbn": "978 ",
    "digit groups": "1 2 3 4 5 ", "isbn starts": "9780", "begin document": "\\begin{document}",
    "think": "</think>",
}  # fmt: skip
_NESTED = {
    "braces": ("{", "}"), "brackets": ("[", "]"), "parentheses": ("(", ")"), "quotes": ("“", "”"),
    "italics": ("<i>", "</i>"),
    "superscripts": ("<sup>", "</sup>"), "emph": ("\\emph{", "}"), "accent": ("\\'{", "}"),
    "maths": ("$^{", "}$"), "double brackets": ("[[", "]]"),
    "objects": ('{"a":', "}"), "strong": ("**", "**"), "bold groups": ("{\\bf ", "}"),
}  # fmt: skip

TEXTS: dict[str, Family] = {
    **{f"run of {name}": repeated(sign) for name, sign in _RUNS.items()},
    **{
        f"run of {name}, then x": repeated(_RUNS[name], "x", "x")
        for name in ("spaces", "line ends", "tabs", "dashes", "digits")
    },
    **{f"repeated {name}": repeated(unit) for name, unit in _UNITS.items()},
    **{f"nested {name}": nested(opening, closing) for name, (opening, closing) in _NESTED.items()},
    "numbered words": numbered("w# "),
    "numbered tags": lambda size: " ".join(f"#t{number}" for number in range(size // 6)),
    "numbered phrases": numbered('"p# q" '),
    "numbered sentences": numbered("A# b. "),
}
