"""Rules for an institute's log-in: what auth.oidc and auth.groups need, and what they mean."""

from __future__ import annotations

from urllib.parse import urlsplit

from carrel.core.secrets import remember_secrets
from carrel.policy.authorization.openid.groups import GroupTable
from carrel.policy.authorization.openid.login import OpenIdOptions
from carrel.policy.origin import is_loopback
from carrel.policy.scopes import ALL_SCOPES, ROLES, SCOPES
from carrel.settings import Settings, SettingsError
from carrel.settings.access_rules import user_prefix

CALLBACK_PATH = "/login/callback"
_LARGEST_SECRET_BYTES = 4096
_HOUR_SECONDS = 3600.0


def institute_options(settings: Settings) -> OpenIdOptions | None:
    """How the desk logs people in at their institute, or None; raises SettingsError."""
    chosen = settings.auth.oidc
    if chosen.issuer is None:
        if settings.auth.groups:
            raise _refuse("auth.groups means nothing without auth.oidc.issuer", "auth.groups")
        return None
    if settings.auth.mode != "builtin":
        raise _refuse("auth.oidc needs auth.mode = builtin", "auth.mode")
    _check_issuer(chosen.issuer)
    if not chosen.client_id:
        raise _refuse("auth.oidc needs a client_id", "auth.oidc.client_id")
    if "openid" not in chosen.scopes:
        raise _refuse("auth.oidc.scopes needs openid", "auth.oidc.scopes")
    return OpenIdOptions(
        issuer=chosen.issuer,
        client_id=chosen.client_id,
        client_secret=_read_secret(settings),
        name=chosen.name,
        contact=chosen.contact,
        redirect_uri=f"{settings.base_url}{CALLBACK_PATH}",
        scopes=chosen.scopes,
        name_claim=chosen.name_claim,
        user_prefix=user_prefix(settings),
        groups=GroupTable(_group_scopes(settings), chosen.groups_claim),
        groups_seconds=chosen.groups_max_age_hours * _HOUR_SECONDS,
        algorithms=settings.auth.algorithms,
        leeway_seconds=settings.auth.leeway_seconds,
    )


def _check_issuer(issuer: str) -> None:
    try:
        parts = urlsplit(issuer)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    is_plain = parts.scheme == "http" and is_loopback(host)
    if not host or parts.query or parts.fragment or not (parts.scheme == "https" or is_plain):
        raise _refuse("auth.oidc.issuer must be an https address", "auth.oidc.issuer")


def _read_secret(settings: Settings) -> str:
    chosen = settings.auth.oidc
    if chosen.client_secret_file is None:
        secret = chosen.client_secret
    else:
        try:
            with chosen.client_secret_file.open("rb") as file:
                secret = file.read(_LARGEST_SECRET_BYTES).decode().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise _refuse(
                f"{chosen.client_secret_file} cannot be read: {error}",
                "auth.oidc.client_secret_file",
            ) from None
    if not secret:
        raise _refuse(
            "auth.oidc needs client_secret_file, or CARREL_AUTH_OIDC_CLIENT_SECRET",
            "auth.oidc.client_secret_file",
        )
    remember_secrets([secret])
    return secret


def _group_scopes(settings: Settings) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for group in settings.auth.groups:
        unknown = sorted(set(group.scopes) - ALL_SCOPES)
        if unknown:
            raise SettingsError(
                f"auth.groups: there is no scope {', '.join(unknown)}",
                next_step=f"Scopes: {', '.join(SCOPES)}.",
            )
        if group.name in found:
            raise _refuse(f"auth.groups names {group.name} twice", "auth.groups")
        scopes = frozenset(group.scopes) | (ROLES[group.role] if group.role else frozenset())
        if not scopes:
            raise _refuse(f"auth.groups: {group.name} has neither a role nor scopes", "auth.groups")
        found[group.name] = scopes
    if not found:
        raise _refuse(
            "auth.oidc is set and auth.groups is not, so nobody could use this desk",
            "auth.groups",
        )
    return found


def _refuse(problem: str, setting: str) -> SettingsError:
    return SettingsError(
        problem,
        next_step="docs/access.md has an example of an institute's log-in.",
        details={"setting": setting},
    )
