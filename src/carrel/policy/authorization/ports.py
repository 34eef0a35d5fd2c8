"""What the authorization server needs from outside: a store, and a way to fetch a client's own
document.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from carrel.policy.authorization.models import (
    Client,
    Code,
    Grant,
    Refresh,
    Session,
    SigningKey,
    User,
)
from carrel.policy.static_tokens import StaticTokens


class AccessStore(StaticTokens, Protocol):
    """Keeps everything of access. Every method is atomic; adding what is already there answers
    False.
    """

    async def add_user(self, user: User) -> bool: ...

    async def user(self, name: str) -> User | None: ...

    async def users(self) -> list[User]: ...

    async def set_disabled(self, name: str, is_disabled: bool, at: float) -> bool:
        """Disabling also revokes the user's grants, ends their sessions and forgets where they
        logged in from.
        """

    async def set_password(self, name: str, password_hash: str, at: float) -> bool:
        """Also revokes the user's grants, and with them every access and refresh token, and ends
        their sessions.
        """

    async def add_client(self, client: Client) -> bool: ...

    async def client(self, client_id: str) -> Client | None: ...

    async def clean_up(self, *, unused_before: float, idle_before: float, now: float) -> int:
        """Removes clients never used since, clients idle since, and what has expired; answers how
        many clients went.
        """

    async def count_clients(self) -> int: ...

    async def begin_grant(self, grant: Grant, code: Code, password_hash: str) -> bool:
        """Keeps a grant with its code, and marks the client as used. False when the user's password
        is another by now, or the
        user is disabled: who decided may no longer decide."""

    async def grant(self, grant_id: str) -> Grant | None:
        """A grant that is not revoked and whose user is not disabled."""

    async def revoke_grant(self, grant_id: str, at: float) -> bool: ...

    async def code(self, code_hash: str) -> Code | None: ...

    async def use_code(self, code_hash: str, at: float, refresh: Refresh) -> bool:
        """Marks the code used and keeps its refresh token; False when it had been used already."""

    async def refresh(self, token_hash: str) -> Refresh | None: ...

    async def rotate(self, token_hash: str, at: float, successor: Refresh, salt: str) -> bool:
        """Marks a refresh token used and keeps its successor, and the salt it is made with; False
        when it had been used already.
        """

    async def add_session(self, session: Session, password_hash: str) -> bool:
        """Keeps a session. False when the user's password is another by now, or the user is
        disabled.
        """

    async def session(self, session_hash: str, now: float) -> Session | None: ...

    async def remove_session(self, session_hash: str) -> None: ...

    async def known_origins(
        self, user_name: str, origins: Collection[str], since: float
    ) -> frozenset[str]:
        """Which of these origins the user has logged in from since then."""

    async def remember_origins(self, user_name: str, origins: Collection[str], at: float) -> None:
        """Keeps where a user has logged in from; only the latest of each user stay."""

    async def add_key(self, key: SigningKey) -> bool: ...

    async def keys(self) -> list[SigningKey]: ...

    async def remove_keys(self, before_generation: int) -> None: ...


class ClientDocuments(Protocol):
    """Fetches the document a client's id is the address of, and the seconds it may be believed for.

    Raises UnavailableError when it cannot be had.
    """

    async def fetch(self, url: str) -> tuple[Mapping[str, Any], float]: ...
