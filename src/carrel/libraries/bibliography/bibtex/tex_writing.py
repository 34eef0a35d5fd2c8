"""Unicode to TeX, for values that BibTeX and BibLaTeX read back as they were."""

import re

_ESCAPED = str.maketrans(
    {
        "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
        "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "\u00a0": "~",
        "`": r"\textasciigrave{}",
    }
)  # fmt: skip
_TAGS = re.compile(
    r'<(/?)(i|b|sup|sub|span)(?: (?:style="font-variant: ?small-caps;?"|class="nocase"))?>'
)
_COMMANDS = {
    "i": r"\textit{",
    "b": r"\textbf{",
    "sup": r"\textsuperscript{",
    "sub": r"\textsubscript{",
}
_RUNS = re.compile(r"-{2,}|'{2,}")
_WORD_TO_PROTECT = re.compile(r"(?<![\w{\\])(?:[^\W_]|[-'’.](?=[^\W_]))+")


def plain_to_tex(text: str) -> str:
    """A text without markup."""
    return _RUNS.sub(lambda run: "{}".join(run.group()), text.translate(_ESCAPED))


def rich_to_tex(text: str) -> str:
    """A text with the tags of CSL-JSON; anything else between angles is text."""
    parts: list[str] = []
    last = 0
    for found in _TAGS.finditer(text):
        parts.append(plain_to_tex(text[last : found.start()]))
        closing, name = found.group(1), found.group(2)
        if closing:
            parts.append("}")
        elif name == "span":
            parts.append("{" if "nocase" in found.group() else r"\textsc{")
        else:
            parts.append(_COMMANDS[name])
        last = found.end()
    parts.append(plain_to_tex(text[last:]))
    return "".join(parts)


def paragraphs_to_tex(text: str) -> str:
    """A longer text, whose lines stay lines."""
    return "\\par ".join(rich_to_tex(line) for line in text.split("\n"))


def title_to_tex(text: str) -> str:
    """A title, with braces around every word whose capitals a style must not touch."""
    pieces: list[str] = []
    last = 0
    for found in _TAGS.finditer(text):
        pieces.append(_protected(text[last : found.start()], is_start=not last))
        pieces.append(found.group())
        last = found.end()
    pieces.append(_protected(text[last:], is_start=not last))
    joined = "".join(pieces)
    return rich_to_tex(joined).replace("\ue000", "{").replace("\ue001", "}")


def _protected(text: str, *, is_start: bool) -> str:
    """Marks words to protect with private characters, which become braces once the rest is
    escaped.
    """
    first_letter = re.search(r"\w", text)
    first_at = first_letter.start() if first_letter else len(text)

    def wrap(found: re.Match[str]) -> str:
        word = found.group()
        has_capital = any(letter.isupper() for letter in word)
        is_first = is_start and found.start() <= first_at
        is_ordinary = word[0].isupper() and not any(letter.isupper() for letter in word[1:])
        if not has_capital or (is_first and is_ordinary and len(word) > 1):
            return word
        return f"\ue000{word}\ue001"

    return _WORD_TO_PROTECT.sub(wrap, text)


def verbatim_to_tex(text: str) -> str:
    """A link or an identifier, which BibTeX styles put into verbatim commands."""
    return text.replace("{", "%7B").replace("}", "%7D")
