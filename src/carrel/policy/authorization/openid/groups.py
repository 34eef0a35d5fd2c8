"""Groups of a provider as scopes of this desk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from carrel.policy.authorization.openid.models import SignInRefusedError

EVERYBODY = "*"
_MOST_GROUPS = 5_000
_LONGEST_GROUP = 300
# How a provider says that there are more groups than fit into a token.
_CLAIMS_ELSEWHERE = "_claim_names"


@dataclass(frozen=True, slots=True)
class GroupTable:
    """What each group may do; `*` is everybody whom the provider knows."""

    scopes: Mapping[str, frozenset[str]]
    claim: str

    def match(self, groups: Iterable[str]) -> tuple[str, ...]:
        """Those groups of a person that mean something here, sorted."""
        held = {*groups, EVERYBODY}
        return tuple(sorted(name for name in self.scopes if name in held))

    def allow(self, matched: Iterable[str]) -> frozenset[str]:
        """The scopes of these groups together."""
        return frozenset().union(*(self.scopes.get(name, frozenset()) for name in matched))

    def read(self, claims: Mapping[str, Any]) -> tuple[str, ...] | None:
        """The groups in claims, or None where the claim is not there. Raises SignInRefusedError."""
        value: object = claims.get(self.claim)
        if value is None:
            value = _find_nested(claims, self.claim)
        if value is None:
            elsewhere = claims.get(_CLAIMS_ELSEWHERE)
            if isinstance(elsewhere, dict) and self.claim in elsewhere:
                raise SignInRefusedError(
                    "Your institute's log-in did not say which groups you are in, because you are "
                    "in too many",
                    next_step="Ask whoever runs this desk to have only its groups sent.",
                )
            return None
        listed = [value] if isinstance(value, str) else value
        if (
            not isinstance(listed, list)
            or len(listed) > _MOST_GROUPS
            or not all(isinstance(each, str) and len(each) <= _LONGEST_GROUP for each in listed)
        ):
            raise SignInRefusedError(
                f"Your institute's log-in sent {self.claim} in a form that cannot be read",
                next_step="Ask whoever runs this desk to look at auth.oidc.groups_claim.",
            )
        return tuple(listed)


def _find_nested(claims: Mapping[str, Any], path: str) -> object:
    """The value at a path such as `realm_access.roles`."""
    found: object = claims
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found
