"""TeX to Unicode and back: accents, symbols, markup, simple mathematics, protecting braces."""

import re
import unicodedata

from carrel.libraries.bibliography.bibtex.tex_reader import SPACES, TexReader, TexText
from carrel.libraries.text.budget import MAX_DEPTH, current_budget, too_deep

_NEEDS_TEX = re.compile(r"[\\{}$~^_`]|''|--")
_LINE_JOINED = re.compile(r"(?<!\\)%[ \t]*\r?\n\s*")
_BREAK = re.compile("(?<! )[ ]*\u2029[ ]*")
_BRACE = re.compile(r"[{}]")
_EMPTY_LINE = re.compile(r"(?<!\s)[ \t]*\r?\n[ \t]*\r?\n\s*")
_LINE_BREAK = re.compile(r"(?<!\\)\\\\(?!\\)(?:\[[^\[\]]{0,20}\])?(?=[\s{}]|\Z)\s*")
# Bounded, so that a command without an end does not make the search quadratic.
HREF = re.compile(
    r"\\href\s{0,9}\{([^{}]{1,2000})\}\s{0,9}\{((?:[^{}]|\{[^{}]{0,500}\}){1,2000})\}"
)
_OUTER_BRACES_AT_MOST = 10


def compose(text: str) -> str:
    """Letters with their accents as one character, as most programs write and search them."""
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", text)


def to_paragraphs(raw: str) -> str:
    """The text of a longer field, where \\par, an empty line and a line break part lines."""
    if "\\href" in raw:
        raw = HREF.sub(_link_beside_words, raw)
    if "\n" in raw:
        raw = _EMPTY_LINE.sub(r"\\par ", raw.strip())
    if "\\" not in raw:
        return to_rich(raw).text
    return _BREAK.sub("\n", _read(_LINE_BREAK.sub(r"\\par ", raw)).text).strip()


def _link_beside_words(found: re.Match[str]) -> str:
    """The words of a link, and behind them where it leads unless they say it themselves."""
    link, words = found.group(1).strip(), found.group(2).strip()
    if _bare_link(link) == _bare_link(words.removeprefix("\\url{").removesuffix("}")):
        return f"\\url{{{link}}}"
    return f"{words} (\\url{{{link}}})"


def _bare_link(text: str) -> str:
    return text.replace("\\", "").partition("://")[2].rstrip("/") or text


def to_rich(raw: str) -> TexText:
    """The text of a field where markup is welcome, such as a title."""
    rich = _read(raw)
    return (
        TexText(rich.text.replace("\u2029", " "), rich.protected) if "\u2029" in rich.text else rich
    )


def _read(raw: str) -> TexText:
    raw = compose(raw)
    if "%" in raw:
        raw = _LINE_JOINED.sub("", raw)
    if not _NEEDS_TEX.search(raw):
        return TexText(SPACES.sub(" ", raw).strip())
    budget = current_budget()
    budget.step(1 + len(raw) // 10)
    raw = _without_outer_braces(raw.strip())
    if raw.count("{") > MAX_DEPTH and _depth(raw) > MAX_DEPTH:
        raise too_deep("a TeX value")
    reader = TexReader(raw)
    reader.read_group(0, is_protected=False)
    return reader.result()


def _depth(raw: str) -> int:
    depth = deepest = 0
    for sign in _BRACE.findall(raw):
        depth = depth + 1 if sign == "{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def to_plain(raw: str) -> str:
    """The text of a field where markup is not, such as a publisher."""
    if not _NEEDS_TEX.search(raw) and "%" not in raw:
        return SPACES.sub(" ", compose(raw)).strip()
    return to_rich(raw).plain.replace("\u00a0", " ").replace("\u2009", " ").strip()


def _without_outer_braces(raw: str) -> str:
    """Braces around everything protect nothing: exporters write them by habit."""
    for _ in range(_OUTER_BRACES_AT_MOST):
        lead, trail = len(raw) - len(raw.lstrip("{")), len(raw) - len(raw.rstrip("}"))
        if not lead or not trail:
            break
        depth = lowest = lead
        for sign in _BRACE.findall(raw, lead, len(raw) - trail):
            depth += 1 if sign == "{" else -1
            lowest = min(lowest, depth)
        layers = min(lowest, trail) if depth == trail else 0
        if not layers:
            break
        raw = raw[layers:-layers].strip()
    return raw


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
# A backslash would take the sense of the brace behind it.
_UNSAFE_IN_PATHS = re.compile(r"\\(?:[{}]|$)")
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
    """Mark words to protect with private characters, which become braces after escaping."""
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


def path_to_tex(text: str) -> str:
    """Paths of files or names of groups, in which nothing is TeX; braces only in pairs."""
    if _UNSAFE_IN_PATHS.search(text):
        return plain_to_tex(text)
    if "{" in text or "}" in text:
        return text if _depth_stays_sound(text) else plain_to_tex(text)
    return text


def _depth_stays_sound(text: str) -> bool:
    depth = 0
    for sign in _BRACE.findall(text):
        depth += 1 if sign == "{" else -1
        if depth < 0:
            return False
    return depth == 0
