"""Access to the accounts of this server, for operations that need them."""

from __future__ import annotations

from carrel.doors.web.admin.callers import NoAccountsError
from carrel.doors.web.admin.ports import ServerFacts
from carrel.policy.authorization.administration import AccountAdministration


class AccountHolder:
    """Operations on accounts; `accounts` is None where the mode of access keeps none here."""

    def __init__(self, accounts: AccountAdministration | None, facts: ServerFacts) -> None:
        self._found = accounts
        self._facts = facts

    @property
    def _accounts(self) -> AccountAdministration:
        """Raises NoAccountsError."""
        if self._found is None:
            raise NoAccountsError(self._facts.mode)
        return self._found
