"""What there is to set, section by section, with what holds where nothing was set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field

from carrel import __version__
from carrel.core.errors import CarrelError
from carrel.core.secrets import password_in_url, remember_secrets
from carrel.rooms import room_names


class SettingsError(CarrelError):
    """A setting that cannot be used; says which one, where it came from and what it may be."""

    code = "invalid_settings"


class Section(BaseModel):
    """Base of every section: no unknown names, never changed after it was read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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
    home_is_persistent: bool | None = Field(
        default=None,
        description="Whether the home folder outlives this process and is the same for every "
        "replica. Unset: yes, except beside a "
        "shared database (DATABASE_URL) and on Cloud Run; there, what would only be kept in the "
        "home answers 503",
    )
    drain_seconds: int = Field(default=20, ge=0)
    compact: bool = False
    listed_tools: tuple[str, ...] = ()
    unlisted_tools: tuple[str, ...] = ()


class PapersSettings(Section):
    """The corpus: a snapshot file, and the folder or address its texts are in."""

    snapshot: Path | None = None
    static: str | None = None
    search: Literal["auto", "fts5", "elasticsearch"] = "auto"
    asset_timeout_seconds: float = Field(default=10.0, gt=0)
    max_asset_bytes: int = Field(default=32 * 1024 * 1024, ge=1024)


class LookupServices(Section):
    """Addresses of the services that know works, where they are not the usual ones."""

    doi_org: str | None = None
    crossref: str | None = None
    pubmed: str | None = None
    pmc: str | None = None
    arxiv: str | None = None
    open_library: str | None = None
    google_books: str | None = None


class ReferencesSettings(Section):
    """The person's library file, how it is cited, and how works are looked up."""

    library: Path | None = None
    attachments: Path | None = None
    styles: Path | None = None
    default_style: str = "apa"
    default_locale: str | None = None
    allowed_folders: tuple[Path, ...] = ()
    contact: str = ""
    pubmed_api_key: str = ""
    lookup_wait_seconds: float = Field(
        default=20.0,
        ge=0,
        le=100,
        description="How long adding waits for look-ups before the rest goes on as a job",
    )
    task_after_seconds: float = Field(
        default=1.0,
        ge=0,
        le=100,
        description="The same where the client follows long work as a task",
    )
    services: LookupServices = LookupServices()


class ClientSettings(Section):
    """A program the operator knows, for the built-in authorization server. Without scopes it may
    ask for any.
    """

    id: str = Field(min_length=1, max_length=200)
    name: str = Field(min_length=1, max_length=80)
    redirect_uris: tuple[str, ...] = Field(min_length=1)
    scopes: tuple[str, ...] | None = None


class KnowledgeSettings(Section):
    """Where notes and nodes are kept: PostgreSQL where DATABASE_URL is set, else a file in the home
    folder; Firestore when chosen.
    """

    store: Literal["auto", "sqlite", "postgres", "firestore"] = Field(
        default="auto",
        description="auto: PostgreSQL where DATABASE_URL is set, else SQLite; Firestore only when "
        "it is named",
    )
    project: str | None = None
    database: str = "(default)"


class ElasticsearchSettings(Section):
    """A real Elasticsearch. Without one the embedded search answers; `indices` are those that may
    be asked beside our own.
    """

    url: str | None = None
    host: str | None = None
    port: int = Field(default=9200, ge=1, le=65535)
    api_key: str | None = None
    indices: tuple[str, ...] = ()
    prefix: str = Field(default="carrel-", pattern=r"^[a-z0-9][a-z0-9_.-]*$")
    timeout: float = Field(default=10.0, gt=0, le=25)

    @property
    def address(self) -> str | None:
        return self.url or (f"http://{self.host}:{self.port}" if self.host else None)


class ResearchSettings(Section):
    """How research works: how long a call waits, how many runs at once, and how much models may be
    used per project.
    """

    patience_seconds: float = Field(default=20.0, gt=0, le=110)
    task_after_seconds: float = Field(default=1.0, ge=0, le=110)
    most_projects_at_once: int = Field(default=4, ge=1, le=64)
    lease_seconds: float = Field(default=20.0, ge=1)
    start_elo: float = 1000.0
    vocabulary: Path | None = None
    max_model_calls: int | None = Field(default=None, ge=1)
    max_cost: float | None = Field(default=None, gt=0)


class JobSettings(Section):
    """Background jobs: how many run at once in one process, how long a silent worker keeps its job,
    how long ended ones are kept.
    """

    max_concurrent: int = Field(
        default=8, ge=1, le=256, description="Jobs that run at once in one process"
    )
    lease_seconds: float = Field(
        default=15.0,
        ge=1,
        le=3600,
        description="After this long without a sign a worker is given up",
    )
    look_every_seconds: float = Field(
        default=5.0, gt=0, le=3600, description="How often abandoned jobs are looked for"
    )
    keep_days: float = Field(default=30.0, gt=0, description="How long ended jobs can be asked for")


class ModelSettings(Section):
    """A language model. Without a provider, hypotheses come from the papers alone."""

    provider: Literal["openai", "anthropic", "google"] | None = None
    name: str = ""
    url: str | None = None
    api_key: str = ""
    timeout_seconds: float = Field(default=120.0, gt=0)
    max_output_tokens: int = Field(default=4096, ge=64)
    context_tokens: int | None = Field(default=None, ge=1024)
    temperature: float | None = Field(default=None, ge=0, le=2)
    safety_check: bool = True
    input_price: float = Field(default=0.0, ge=0)
    output_price: float = Field(default=0.0, ge=0)


class DatabaseSettings(Section):
    """PostgreSQL for state that replicas share; without it everything embedded is SQLite in the
    home folder.
    """

    url: str | None = None


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


class AuditSettings(Section):
    """Whether and where calls are written down: PostgreSQL where DATABASE_URL is set, else files in
    the home folder.
    """

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


def _secrets_in(section: Section) -> Iterator[str | None]:
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, Section):
            yield from _secrets_in(value)
        elif isinstance(value, str):
            yield (
                value
                if name.endswith(("key", "secret", "password", "token"))
                else password_in_url(value)
            )


class Settings(Section):
    """The whole of it."""

    home: Path = Field(default_factory=lambda: platformdirs.user_data_path("carrel"))
    cache: Path | None = Field(
        default=None,
        description="Folder of what is made again by itself (the search index, concepts of "
        "papers), best on a disk of this machine; "
        "the home folder where it is not set. Replicas that share a home over a network need one "
        "each",
    )
    rooms: tuple[str, ...] = Field(default_factory=room_names)
    server: ServerSettings = ServerSettings()
    papers: PapersSettings = PapersSettings()
    references: ReferencesSettings = ReferencesSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    elasticsearch: ElasticsearchSettings = ElasticsearchSettings()
    research: ResearchSettings = ResearchSettings()
    jobs: JobSettings = JobSettings()
    model: ModelSettings = ModelSettings()
    database: DatabaseSettings = DatabaseSettings()
    auth: AuthSettings = AuthSettings()
    limits: LimitSettings = LimitSettings()
    audit: AuditSettings = AuditSettings()
    log: LogSettings = LogSettings()
    source: Path | None = None
    unknown_variables: dict[str, str | None] = Field(default_factory=dict)

    def model_post_init(self, context: object, /) -> None:
        """From the moment that a secret is read, nothing that others say is kept or shown with it
        inside.
        """
        remember_secrets(_secrets_in(self))

    @property
    def audit_file(self) -> Path:
        return self.audit.file or self.home / "audit" / "audit.jsonl"

    @property
    def knowledge_store(self) -> Literal["sqlite", "postgres", "firestore"]:
        """The store of notes and nodes that `auto` stands for."""
        if self.knowledge.store == "auto":
            return "postgres" if self.database.url else "sqlite"
        return self.knowledge.store

    @property
    def cache_folder(self) -> Path:
        return self.cache or self.home

    @property
    def keeps_home(self) -> bool:
        """Whether what is written into the home folder lasts and is seen by every replica."""
        if self.server.home_is_persistent is None:
            return not self.database.url
        return self.server.home_is_persistent

    @property
    def base_url(self) -> str:
        """What clients are told this server's address is."""
        if self.server.public_url:
            return self.server.public_url.rstrip("/")
        host = self.server.host
        shown = (
            "localhost" if host in {"0.0.0.0", "::", ""} else f"[{host}]" if ":" in host else host  # noqa: S104
        )
        return f"http://{shown}:{self.server.port}"
