"""What the authorization server needs from outside: a store, and a way to fetch a client's own document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from carrel.policy.authorization.models import Client, Code, Grant, Refresh, Session, SigningKey, User
from carrel.policy.static_tokens import StaticTokens


class AccessStore(StaticTokens, Protocol):
    """Keeps everything of access. Every method is atomic; adding what is already there answers False."""

    async def add_user(self, user: User) -> bool: ...

    async def user(self, name: str) -> User | None: ...

    async def users(self) -> list[User]: ...

    async def set_disabled(self, name: str, is_disabled: bool, at: float) -> bool:
        """Disabling also revokes the user's grants and ends their sessions."""

    async def set_password(self, name: str, password_hash: str) -> bool:
        """Also ends the user's sessions."""

    async def add_client(self, client: Client) -> bool: ...

    async def client(self, client_id: str) -> Client | None: ...

    async def clean_up(self, *, unused_before: float, idle_before: float, now: float) -> int:
        """Removes clients never used since, clients idle since, and what has expired; answers how many clients went."""

    async def count_clients(self) -> int: ...

    async def begin_grant(self, grant: Grant, code: Code) -> None:
        """Keeps a grant with its code, and marks the client as used."""

    async def grant(self, grant_id: str) -> Grant | None:
        """A grant that is not revoked and whose user is not disabled."""

    async def revoke_grant(self, grant_id: str, at: float) -> bool: ...

    async def code(self, code_hash: str) -> Code | None: ...

    async def use_code(self, code_hash: str, at: float, refresh: Refresh) -> bool:
        """Marks the code used and keeps its refresh token; False when it had been used already."""

    async def refresh(self, token_hash: str) -> Refresh | None: ...

    async def rotate(self, token_hash: str, at: float, successor: Refresh) -> bool:
        """Marks a refresh token used and keeps its successor; False when it had been used already."""

    async def add_session(self, session: Session) -> None: ...

    async def session(self, session_hash: str, now: float) -> Session | None: ...

    async def remove_session(self, session_hash: str) -> None: ...

    async def add_key(self, key: SigningKey) -> bool: ...

    async def keys(self) -> list[SigningKey]: ...

    async def remove_keys(self, before_generation: int) -> None: ...


class ClientDocuments(Protocol):
    """Fetches the document a client's id is the address of, and the seconds it may be believed for.

    Raises UnavailableError when it cannot be had.
    """

    async def fetch(self, url: str) -> tuple[Mapping[str, Any], float]: ...
