"""Punctuation where two pieces meet: no doubles, and stops on the right side of quotes."""

from .tokens import (
    DECORATED,
    DECORATED_PREFIX,
    DELIMITER,
    DOUBLE_QUOTES,
    ELEMENT_QUOTES,
    FONT_END,
    GLUE,
    GROUP_END,
    NUMBER_END,
    PREFIX,
    SIGN_END,
    SINGLE_QUOTES,
    Mark,
    Token,
    Tokens,
    mark,
)

# left sign -> right sign -> what both together become
SIGN_PAIRS = {
    ".": {".": ".", "!": ".!", "?": ".?", ":": ".:", ",": ".,", ";": ".;"},
    ",": {",": ",", "!": ",!", "?": ",?", ":": ",:", ".": ",.", ";": ",;"},
    ":": {":": ":", "!": "!", "?": "?", ".": ":", ",": ":,", ";": ":;"},
    ";": {";": ";", "!": "!", "?": "?", ":": ";", ".": ";", ",": ";,"},
    "!": {"!": "!", ".": "!", "?": "!?", ":": "!", ",": "!,", ";": "!;"},
    "?": {"?": "?", "!": "?!", ".": "?", ":": "?", ",": "?,", ";": "?;"},
}
_moves_in = frozenset(".,!?")
_moves_out = frozenset(":;,")
_spaces = frozenset(" \u00a0")
_PLAIN_SEAM = mark("part", "seam")
# A full stop gave way to the sign before it.
_SWALLOWED = mark("part", "swallowed")


_TEXT = mark("part", "text")
_seams = frozenset({DELIMITER, FONT_END, GROUP_END, DECORATED_PREFIX, PREFIX})


# Typed quotation marks as text.
_TYPED_QUOTES = ((DOUBLE_QUOTES, "“”"), (SINGLE_QUOTES, "‘’"))


def spell_foreign_quotes(tokens: Tokens, quotes: tuple[str, str, str, str]) -> Tokens:
    """The same tokens with typed quotation marks that the locale does not have as letters.

    What follows such a mark stands behind a text that ends with it, not with the sign before it.
    """
    own = {"".join(quotes[:2]), "".join(quotes[2:])}
    spelled: dict[Token, Token] = {
        edge: sign
        for opening, signs in _TYPED_QUOTES
        if signs not in own and opening in tokens
        for edge, sign in zip((opening, opening.close), signs, strict=True)
    }
    if not spelled:
        return tokens
    return [token if token.__class__ is str else spelled.get(token, token) for token in tokens]


def resolve_punctuation(tokens: Tokens, in_quote: bool) -> Tokens:
    """The same tokens with their punctuation settled at every seam."""
    out: Tokens = []
    last = -1  # place of the last text in `out`
    quote_end = -1  # place of the first quotation mark closed since
    seam = _PLAIN_SEAM  # what kind of edge lies between the last text and the next
    moved = False  # whether the last sign was moved inside the quotation marks
    released = -1  # place of a sign that has left the quotation marks of its text
    for token in _settle_prefixes(_drop_after_repeated(tokens)):
        if token.__class__ is not str:
            if token in _seams:
                seam = _pass_seam(token, seam, quote_end)
                continue
            if quote_end < 0 and _leaves_quotes(token, out, last, in_quote):
                last, quote_end = _release_sign(token, out, last), -1
                released = last
                continue
            last, quote_end = _pass_mark(token, last, quote_end, len(out))  # type: ignore[arg-type]
            out.append(token)
            continue
        text: str = token
        if not text:
            continue
        if last >= 0:
            first = text[0]
            if first == " " and out[last][-1] in _spaces:  # type: ignore[index]
                text = text if _begins_right_block(out[-1]) else text.lstrip(" ")
            elif first in SIGN_PAIRS:
                if quote_end >= 0:
                    length, places = len(out[last]), len(out)  # type: ignore[arg-type]
                    text = _resolve_after_quote(out, last, text, in_quote, moved, seam)
                    moved = len(out) > places or len(out[last]) > length  # type: ignore[arg-type]
                    if len(out) > places:
                        last, quote_end = _last_text(out), quote_end + 1
                else:
                    edge = PREFIX if last == released else seam
                    last, text = _resolve_signs(out, last, text, in_quote, edge)
            if not text:
                seam = _SWALLOWED if first == "." else _PLAIN_SEAM
                continue
        last = len(out)
        quote_end = -1
        seam, moved = _PLAIN_SEAM, False
        out.append(text)
    return out


def _begins_right_block(token: Token) -> bool:
    """Whether the block beside the margin begins here, whose space is its own."""
    return (
        token.__class__ is not str
        and token.is_open  # type: ignore[union-attr]
        and token.value == "right-inline"  # type: ignore[union-attr]
    )


def _leaves_quotes(token: Token, out: Tokens, last: int, in_quote: bool) -> bool:
    """Whether the sign that ends a text leaves the quotation marks of its element."""
    return (
        token is ELEMENT_QUOTES.close
        and not in_quote
        and last >= 0
        and len(out[last]) > 1  # type: ignore[arg-type]
        and out[last][-1] in _moves_out  # type: ignore[index]
    )


def _release_sign(token: Token, out: Tokens, last: int) -> int:
    """Set the sign behind its quotation mark; returns its place."""
    before: str = out[last]  # type: ignore[assignment]
    out[last] = before[:-1]
    out += (token, before[-1])
    return len(out) - 1


def _drop_after_repeated(tokens: Tokens) -> Tokens:
    """Where a suffix repeats the one inside of it, the sign of what follows gives way to both."""
    out: Tokens = []
    sign = ""  # the text before, where it is a single sign
    is_repeated = is_edge = False
    for token in tokens:
        if not isinstance(token, str):
            is_edge = is_edge or token is PREFIX or token is DELIMITER
            if token is not DECORATED:
                sign = ""
            is_repeated = is_repeated and (token.kind == "part" and token is not GLUE)
            if token is not SIGN_END:
                out.append(token)
            continue
        gives_way = is_repeated and is_edge and token[:1] in SIGN_PAIRS
        text = token[1:] if gives_way else token
        is_repeated = bool(sign) and text.rstrip(" ") == sign
        sign = text if text in SIGN_PAIRS else ""
        is_edge = False
        out.append(text)
    return out


def _settle_prefixes(tokens: Tokens) -> Tokens:
    """The marks of prefixes as what they mean here: apart from what is before, glued, or none."""
    out: Tokens = []
    is_decorated = is_prefix = is_delimiter = False
    before = _TEXT  # what kind of text the last one is
    for token in tokens:
        if token is DECORATED:
            is_decorated = True
        elif token is PREFIX or token is DECORATED_PREFIX:
            is_prefix = True
            if before is PREFIX:
                out.append(GLUE)  # Two prefixes that meet are both kept.
            elif is_decorated or token is DECORATED_PREFIX:
                out.append(DECORATED_PREFIX)
            else:
                out.append(DELIMITER if before is DELIMITER else PREFIX)
        elif token and token.__class__ is str:
            if before is not _TEXT and not is_prefix and token[0] in SIGN_PAIRS:
                out.append(DELIMITER)  # A text's own first sign gives way only to its like.
            out.append(token)
            before = PREFIX if is_prefix else DELIMITER if is_delimiter else _TEXT
            is_decorated = is_prefix = is_delimiter = False
        else:
            out.append(token)
            is_delimiter = is_delimiter or token is DELIMITER
    return out


def _pass_seam(token: Mark, seam: Mark, quote_end: int) -> Mark:
    """The kind of edge after one more: a font decides, but not where a quotation has ended."""
    if token is DECORATED_PREFIX:
        return FONT_END if quote_end < 0 else seam
    return token if token is FONT_END or seam is _PLAIN_SEAM else seam


def _pass_mark(mark: Mark, last: int, quote_end: int, place: int) -> tuple[int, int]:
    """Where the last text and the end of a quotation are after a mark that is no font."""
    if mark.kind == "quotes":
        if mark.is_open:
            return last, -1
        return last, place if last >= 0 and quote_end < 0 else quote_end
    if mark is GLUE:
        return -1, -1
    return last, quote_end


def _resolve_after_quote(
    out: Tokens, last: int, text: str, in_quote: bool, moved: bool, seam: Mark
) -> str:
    """A sign behind a closing quote: one that repeats a sign moved inside before is dropped."""
    end = out[last][-1]  # type: ignore[index]
    if seam is not FONT_END and end in "!?" and text[0] in ".:":
        return text[1:]
    if not in_quote and seam is FONT_END and end in "!?" and text[0] != end:
        return text
    if moved and end in SIGN_PAIRS and SIGN_PAIRS[end][text[0]] == end:
        return text[1:]
    return _resolve_at_quote(out, last, text, in_quote)


def _resolve_signs(
    out: Tokens, last: int, text: str, in_quote: bool, seam: Mark
) -> tuple[int, str]:
    """A sign behind another: returns the place of the last text and what is left of the new one."""
    before: str = out[last]  # type: ignore[assignment]
    end, first = before[-1], text[0]
    edge = next((place for place in range(last + 1, len(out)) if _is_block_edge(out[place])), -1)
    if edge >= 0:
        # A sign that would open a line closes the block before it.
        if not _is_block_edge(out[edge], closing=True):
            return last, text
        if end not in SIGN_PAIRS:
            out.insert(edge, first)
            return edge, text[1:]
    if end not in SIGN_PAIRS:
        return last, text
    if _stays(seam, end, first, out, last):
        return last, text
    both = SIGN_PAIRS[end][first]
    is_alone = len(before) == 1 and last > 0 and _closes_quote(out[last - 1])
    if in_quote and both[0] != end and is_alone:
        # The sign that stood outside gives way to one that belongs inside.
        out.pop(last)
        last = _last_text(out)
        return last, _resolve_at_quote(out, last, both + text[1:], in_quote)
    out[last] = before[:-1] + both[0]
    return last, both[1:] + text[1:]


def _is_block_edge(token: Token, *, closing: bool = False) -> bool:
    """Whether a block of its own begins or ends here."""
    if token.__class__ is str or token.kind != "display":  # type: ignore[union-attr]
        return False
    return not (closing and token.is_open)  # type: ignore[union-attr]


def _is_affix(out: Tokens, last: int) -> bool:
    """Whether the last text is the suffix of a number, such as `):`: it keeps its signs."""
    before: str = out[last]  # type: ignore[assignment]
    if any(sign.isalnum() for sign in before):
        return False
    previous = _last_text(out[:last])
    between = out[previous:last]
    return previous >= 0 and NUMBER_END in between and GLUE not in between


def _stays(seam: Mark, end: str, first: str, out: Tokens, last: int) -> bool:
    """Whether both signs are kept at this seam, although one of them could give way."""
    if seam is PREFIX:
        return False
    if seam is DELIMITER:
        # What is glued to the text before it is the rest of a field, not an affix.
        is_rest = last > 0 and out[last - 1] is GLUE
        return end != first and not (is_rest or any(sign.isalnum() for sign in out[last]))  # type: ignore[union-attr]
    if end != first and _is_affix(out, last):
        return True
    if seam is _PLAIN_SEAM or seam is GROUP_END:
        return False
    return end != first and (seam is FONT_END or (first == ":" and end in "!?"))


def _resolve_at_quote(out: Tokens, last: int, text: str, in_quote: bool) -> str:
    """Resolve the signs before and after a closing quote; returns what stays outside."""
    before: str = out[last]  # type: ignore[assignment]
    end, first = before[-1], text[0]
    rest = text[1:]
    if end not in SIGN_PAIRS:
        if in_quote and first in _moves_in:
            after = last + 1
            while after < len(out) and out[after].flips and out[after].kind != "display":  # type: ignore[union-attr]
                after += 1
            if after > last + 1:
                out.insert(after, first)  # a word in italics does not take the comma with it
            else:
                out[last] = before + first
            return rest
        return text
    if end == first:
        return rest
    if not in_quote:
        both = SIGN_PAIRS[end][first]
        out[last] = before[:-1] + both[0]
        return both[1:] + rest
    if first in _moves_in:
        out[last] = before[:-1] + SIGN_PAIRS[end][first]
        return rest
    return text


def _closes_quote(token: Token) -> bool:
    return token.__class__ is not str and token.kind == "quotes" and not token.is_open  # type: ignore[union-attr]


def _last_text(out: Tokens) -> int:
    for place in range(len(out) - 1, -1, -1):
        if out[place].__class__ is str and out[place]:
            return place
    return -1
