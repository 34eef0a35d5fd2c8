"""What a log may say of an exception: its type, its codes and its message without the values that
it quotes.
"""

from __future__ import annotations

import re

MAX_CHARACTERS = 200
# Drivers quote the values they stumble over: a note's words, a key, an address. From the first
# quote to the last one.
_QUOTED = re.compile(r"""(["'`\u201c\u00ab]).*["'`\u201d\u00bb]""", re.DOTALL)
_CODES = ("sqlstate", "sqlite_errorname", "status_code")


def describe_error(error: BaseException) -> str:
    """One line without quoted values. Only the first line of a message: drivers add the failing row
    in the next ones.
    """
    codes = [
        f"{name}={value}"
        for name in _CODES
        if isinstance(value := getattr(error, name, None), str | int)
    ]
    lines = str(error).strip().splitlines()
    message = _QUOTED.sub(r"\1…\1", lines[0])[:MAX_CHARACTERS] if lines else ""
    kind = type(error)
    name = (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
    return " ".join(part for part in (name, *codes, message) if part)


def describe_cause(error: BaseException) -> str:
    """The exception that an error was made from, or nothing."""
    cause = error.__cause__ or error.__context__
    return "" if cause is None else describe_error(cause)
