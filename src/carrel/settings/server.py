"""Settings of the server: where it listens, who may call, how often, and what is written down."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from carrel import __version__
from carrel.settings.rooms import Section


class ServerSettings(Section):
    """Where the server listens and what it tells clients about itself."""

    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    workers: int = Field(default=1, ge=1, le=256)
    name: str = "Carrel"
    version: str = __version__
    public_url: str | None = None
    allowed_origins: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    forwarded_header: Literal["x-forwarded-for", "forwarded"] = "x-forwarded-for"
    max_body_bytes: int = Field(default=4 * 1024 * 1024, ge=1024)
    body_timeout_seconds: float = Field(default=20.0, gt=0)
    max_buffered_body_bytes: int = Field(default=64 * 1024 * 1024, ge=1024)
    max_header_bytes: int = Field(default=32 * 1024, ge=1024, le=1024 * 1024)
    max_headers: int = Field(default=100, ge=10, le=10_000)
    max_target_bytes: int = Field(default=8 * 1024, ge=256, le=64 * 1024)
    header_timeout_seconds: float = Field(default=10.0, gt=0)
    keep_alive_seconds: float = Field(default=15.0, gt=0)
    send_timeout_seconds: float = Field(default=30.0, gt=0)
    max_connections: int = Field(default=1000, ge=1)
    max_connections_per_address: int = Field(default=256, ge=1)
    max_pipelined_requests: int = Field(default=16, ge=1, le=1000)
    min_free_disk_bytes: int = Field(default=4 * 1024 * 1024, ge=0)
    replicas: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="How many servers answer for this desk. More than one: what would only be kept "
        "in the home of one of them answers 503, unless server.home_is_persistent says that all "
        "have the same home. With more than 1, a server of one worker refuses connections until "
        "it has started, so that a proxy asks another",
    )
    home_is_persistent: bool | None = Field(
        default=None,
        description="Whether the home folder outlives this process and is the same for every "
        "replica. Unset: yes, except beside a shared database (DATABASE_URL), where "
        "server.replicas is more than 1, on Cloud Run, and in Kubernetes on an address that other "
        "machines reach; there, what would only be kept in the home answers 503",
    )
    drain_seconds: int = Field(
        default=20,
        ge=0,
        description="how long calls under way may still take once the server listens no more",
    )
    stop_delay_seconds: float | None = Field(
        default=None,
        ge=0,
        le=300,
        description="how long after SIGTERM connections are still taken, while /ready answers 503 "
        "and answers end their connections. Unset: 3 behind a proxy (server.public_url, "
        "server.trusted_proxies) or on an address other machines reach, otherwise 0",
    )
    compact: bool = False
    console: bool = Field(default=True, description="Serve the web console at /")
    listed_tools: tuple[str, ...] = ()
    unlisted_tools: tuple[str, ...] = ()


class ClientSettings(Section):
    """A known OAuth client; without scopes it may ask for any."""

    id: str = Field(min_length=1, max_length=200)
    name: str = Field(min_length=1, max_length=80)
    redirect_uris: tuple[str, ...] = Field(min_length=1)
    scopes: tuple[str, ...] | None = None


class GroupSettings(Section):
    """A group of an institute's log-in, and what its people may do; `*` is everybody there."""

    name: str = Field(min_length=1, max_length=300)
    role: Literal["reader", "member", "admin"] | None = None
    scopes: tuple[str, ...] = ()


class OidcSettings(Section):
    """An institute's OpenID Connect provider, at which people log in (auth.mode = builtin)."""

    issuer: str | None = Field(
        default=None, description="as the provider writes it, byte for byte; https"
    )
    client_id: str = ""
    client_secret: str = ""
    client_secret_file: Path | None = Field(
        default=None, description="a file that holds the secret, in place of client_secret"
    )
    name: str = Field(
        default="your institute", min_length=1, max_length=80, description="what people call it"
    )
    contact: str = Field(
        default="whoever runs this desk",
        min_length=1,
        max_length=200,
        description="whom somebody asks who is in none of the groups",
    )
    scopes: tuple[str, ...] = Field(
        default=("openid", "profile"),
        description="what is asked of the provider; add offline_access where it gives refresh "
        "tokens for it",
    )
    groups_claim: str = Field(
        default="groups",
        min_length=1,
        max_length=200,
        description="where groups are told; realm_access.roles for a claim inside of another",
    )
    name_claim: str = Field(
        default="sub", description="what a person's user name is made of at the first log-in"
    )
    groups_max_age_hours: float = Field(
        default=12.0,
        gt=0,
        le=24 * 30,
        description="programs stop, and the person logs in again, where groups could not be read "
        "again for so long",
    )
    trusted_hosts: tuple[str, ...] = Field(
        default=(),
        description="hosts of the provider beside the issuer's own that are at private addresses",
    )
    passwords: bool = Field(
        default=False, description="whether people with a password here may log in as well"
    )


class AuthSettings(Section):
    """How callers are recognised. Unset means the one local user, and only on loopback."""

    mode: Literal["local", "tokens", "jwt", "builtin", "cloudrun"] | None = None
    allow_plain_http: bool = False
    # local: whether a caller over HTTP must show the secret in the home folder, which other
    # accounts cannot read
    local_secret: bool = False
    # jwt: an authorization server of your own
    issuer: str | None = None
    jwks_url: str | None = None
    audience: tuple[str, ...] = ()
    algorithms: tuple[Literal["RS256", "ES256"], ...] = ("RS256", "ES256")
    leeway_seconds: float = Field(default=30.0, ge=0, le=120)
    scope_claim: str = "scope"
    user_claim: str = "sub"
    user_prefix: str = Field(
        default="",
        max_length=50,
        description="put before users' names from jwt and cloudrun tokens, so that they never "
        "meet those of another mode or issuer",
    )
    # builtin: the authorization server that is built in
    access_token_seconds: int = Field(default=3600, ge=1, le=86_400)
    refresh_token_days: float = Field(default=30.0, gt=0, le=365)
    refresh_family_days: float = Field(
        default=90.0,
        gt=0,
        le=3650,
        description="days after a log-in until it ends for good, however often it was refreshed",
    )
    refresh_grace_seconds: float = Field(
        default=30.0,
        ge=0,
        le=300,
        description="how long after its use a refresh token shown again counts as a retry, not a "
        "replay",
    )
    key_rotation_days: float = Field(default=90.0, gt=0)
    registration: bool = True
    registrations_per_hour: float = Field(default=60.0, gt=0)
    redirect_hosts: tuple[str, ...] = ("*",)
    redirect_schemes: tuple[str, ...] | None = Field(
        default=None,
        description="schemes of apps that may be returned to, besides domains written backwards; "
        "unset means well-known clients'",
    )
    client_documents: bool = True
    clients: tuple[ClientSettings, ...] = ()
    # builtin: log-in at an institute, and what its groups may do
    oidc: OidcSettings = OidcSettings()
    groups: tuple[GroupSettings, ...] = ()
    # cloudrun: whoever the platform lets in
    platform_scopes: tuple[str, ...] | None = None
    platform_admins: tuple[str, ...] = ()


class RateSettings(Section):
    """A rate of its own for one operation or scope."""

    per_minute: float = Field(gt=0)
    burst: float = Field(default=10.0, ge=1)


class LimitSettings(Section):
    """How often a caller may call; `rates` and `costs` are by operation or scope."""

    per_minute: float = Field(default=60.0, gt=0)
    burst: float = Field(default=10.0, ge=1)
    rates: dict[str, RateSettings] = Field(default_factory=dict)
    costs: dict[str, float] = Field(default_factory=dict)


class QuotaGroupSettings(Section):
    """What a group may use in a day: all members together, and each of them."""

    name: str = Field(min_length=1, max_length=255)
    calls_per_day: float | None = Field(default=None, ge=0)
    cost_per_day: float | None = Field(default=None, ge=0)
    each_calls_per_day: float | None = Field(default=None, ge=0)
    each_cost_per_day: float | None = Field(default=None, ge=0)


class QuotaSettings(Section):
    """How much a person, and a group together, may use in a day of UTC."""

    enabled: bool | None = Field(
        default=None,
        description="Whether use is counted; where it is not set, if a quota is named here. "
        "Administrators can set quotas only where it is",
    )
    calls_per_day: float | None = Field(default=None, ge=0, description="of each person")
    cost_per_day: float | None = Field(
        default=None, ge=0, description="of each person, in the units of limits.costs"
    )
    cost_per_1000_tokens: float = Field(
        default=1.0, ge=0, description="what language models cost the owner of a research project"
    )
    groups: tuple[QuotaGroupSettings, ...] = Field(default=(), max_length=1000)

    @property
    def is_counting(self) -> bool:
        """Whether calls are counted."""
        if self.enabled is not None:
            return self.enabled
        return bool(self.calls_per_day is not None or self.cost_per_day is not None or self.groups)


class AuditSettings(Section):
    """Whether and where calls are written down."""

    enabled: bool = True
    store: Literal["auto", "file", "postgres", "stdout"] = Field(
        default="auto",
        description="stdout: JSON lines on standard output, kept by whoever reads it; auto "
        "chooses it where the home does not last",
    )
    file: Path | None = None
    max_file_bytes: int = Field(
        default=64 * 1024 * 1024,
        ge=4096,
        description="a larger file is put aside and a new one begun",
    )
    max_total_bytes: int = Field(
        default=2 * 1024**3,
        ge=8192,
        description="beyond this the oldest files put aside are removed; files only",
    )
    max_age_days: float = Field(
        default=365.0, gt=0, description="files put aside whose last line is older are removed"
    )
    min_free_bytes: int = Field(
        default=32 * 1024 * 1024,
        ge=0,
        description="with less space left on the disk, calls that write answer 503; files only",
    )
    anchors: Path | None = Field(
        default=None,
        description="folder of the signed anchors; best on another volume than the log",
    )
    signing_key: Path | None = Field(
        default=None, description="PEM file of the Ed25519 key that signs anchors; made if absent"
    )
    anchor_every_lines: int = Field(
        default=10_000, ge=1, description="lines after which the head of the log is anchored"
    )
    anchor_every_seconds: float = Field(
        default=60.0, gt=0, description="seconds after which new lines are anchored"
    )
    refusal_period_seconds: float = Field(
        default=300.0, gt=0, description="refusals of one caller are summed up so often"
    )
    refusals_in_full: int = Field(
        default=5, ge=0, description="refusals of one caller recorded in full in each period"
    )
    most_waiting: int = Field(
        default=100_000, ge=100, description="records that may wait to be written"
    )
    keep_timeout_seconds: float = Field(
        default=2.0, gt=0, le=30, description="how long a call that writes waits for its record"
    )


class LogSettings(Section):
    """What goes to standard error."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["text", "json"] = "text"
