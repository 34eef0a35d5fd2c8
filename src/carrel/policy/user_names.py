"""Names of users that come from outside: which are taken as they are, and which are ours alone."""

from __future__ import annotations

import unicodedata

from carrel.core.caller import ANONYMOUS_USER, LOCAL_USER

LONGEST_USER_NAME = 255
# Who is at this machine, who is not known, and what the audit log calls operators and static
# tokens.
_RESERVED_NAMES = frozenset({LOCAL_USER, ANONYMOUS_USER})
_RESERVED_PREFIXES = (f"{LOCAL_USER}:", f"{ANONYMOUS_USER}:", "token:")


def is_reserved_name(name: str) -> bool:
    """Whether a name, or one that looks the same, is ours: `LOCAL` and full-width letters count as
    `local`.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()
    return folded in _RESERVED_NAMES or folded.startswith(_RESERVED_PREFIXES)


def problem_with_foreign_name(name: object) -> str | None:
    """Why a name from somebody else's token cannot be a user here, or None when it can. It says
    nothing of the name itself.
    """
    if not isinstance(name, str) or not name:
        return "names no user"
    if len(name) > LONGEST_USER_NAME:
        return f"names a user with more than {LONGEST_USER_NAME} characters"
    # Also refuses lone surrogates and invisible characters, which no store keeps apart reliably.
    if not name.isprintable() or name != name.strip():
        return "names a user with characters that cannot be shown"
    if is_reserved_name(name):
        return "names a user that is reserved here"
    return None
