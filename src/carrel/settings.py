"""Everything an operator may set, read once: flags over environment over carrel.toml over defaults."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from carrel import __version__
from carrel.core.errors import CarrelError

ROOM_NAMES = ("papers", "references", "knowledge", "research")


class SettingsError(CarrelError):
    """A setting that cannot be used; says which one, where it came from and what it may be."""

    code = "invalid_settings"


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ServerSettings(_Section):
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
    max_body_bytes: int = Field(default=4 * 1024 * 1024, ge=1024)
    body_timeout_seconds: float = Field(default=20.0, gt=0)
    drain_seconds: int = Field(default=20, ge=0)
    compact: bool = False


class PapersSettings(_Section):
    """The corpus: a snapshot file, and the folder or address its texts are in."""

    snapshot: Path | None = None
    static: str | None = None
    search: Literal["auto", "fts5", "elasticsearch"] = "auto"
    asset_timeout_seconds: float = Field(default=10.0, gt=0)
    max_asset_bytes: int = Field(default=32 * 1024 * 1024, ge=1024)


class LookupServices(_Section):
    """Addresses of the services that know works, where they are not the usual ones."""

    doi_org: str | None = None
    crossref: str | None = None
    pubmed: str | None = None
    pmc: str | None = None
    arxiv: str | None = None
    open_library: str | None = None
    google_books: str | None = None


class ReferencesSettings(_Section):
    """The person's library file, how it is cited, and how works are looked up."""

    library: Path | None = None
    attachments: Path | None = None
    styles: Path | None = None
    default_style: str = "apa"
    default_locale: str | None = None
    allowed_folders: tuple[Path, ...] = ()
    contact: str = ""
    pubmed_api_key: str = ""
    services: LookupServices = LookupServices()


class ClientSettings(_Section):
    """A program the operator knows, for the built-in authorization server. Without scopes it may ask for any."""

    id: str = Field(min_length=1, max_length=200)
    name: str = Field(min_length=1, max_length=80)
    redirect_uris: tuple[str, ...] = Field(min_length=1)
    scopes: tuple[str, ...] | None = None


class KnowledgeSettings(_Section):
    """Where notes and nodes are kept: a file in the home folder, PostgreSQL by DATABASE_URL, or Firestore."""

    store: Literal["sqlite", "postgres", "firestore"] = "sqlite"
    project: str | None = None
    database: str = "(default)"


class ElasticsearchSettings(_Section):
    """A real Elasticsearch. Without one the embedded search answers; `indices` are those that may be asked beside our own."""

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


class ResearchSettings(_Section):
    """How research works: how long a call waits, how many runs at once, and how much models may be used per project."""

    patience_seconds: float = Field(default=20.0, gt=0, le=110)
    task_after_seconds: float = Field(default=1.0, ge=0, le=110)
    most_projects_at_once: int = Field(default=4, ge=1, le=64)
    lease_seconds: float = Field(default=20.0, ge=1)
    start_elo: float = 1000.0
    vocabulary: Path | None = None
    max_model_calls: int | None = Field(default=None, ge=1)
    max_cost: float | None = Field(default=None, gt=0)


class ModelSettings(_Section):
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


class DatabaseSettings(_Section):
    """PostgreSQL for state that replicas share; without it everything embedded is SQLite in the home folder."""

    url: str | None = None


class AuthSettings(_Section):
    """How callers are recognised. Unset means the one local user, and only on loopback."""

    mode: Literal["local", "tokens", "jwt", "builtin", "cloudrun"] | None = None
    allow_plain_http: bool = False
    # jwt: an authorization server of your own
    issuer: str | None = None
    jwks_url: str | None = None
    audience: tuple[str, ...] = ()
    algorithms: tuple[Literal["RS256", "ES256"], ...] = ("RS256", "ES256")
    leeway_seconds: float = Field(default=30.0, ge=0, le=120)
    scope_claim: str = "scope"
    user_claim: str = "sub"
    # builtin: the authorization server that is built in
    access_token_seconds: int = Field(default=3600, ge=1, le=86_400)
    refresh_token_days: float = Field(default=30.0, gt=0, le=365)
    key_rotation_days: float = Field(default=90.0, gt=0)
    registration: bool = True
    registrations_per_hour: float = Field(default=60.0, gt=0)
    redirect_hosts: tuple[str, ...] = ("*",)
    client_documents: bool = True
    clients: tuple[ClientSettings, ...] = ()
    # cloudrun: whoever the platform lets in
    platform_scopes: tuple[str, ...] | None = None
    platform_admins: tuple[str, ...] = ()


class RateSettings(_Section):
    """A rate of its own for one operation or scope."""

    per_minute: float = Field(gt=0)
    burst: float = Field(default=10.0, ge=1)


class LimitSettings(_Section):
    """How often a caller may call; `rates` and `costs` are by operation or scope."""

    per_minute: float = Field(default=60.0, gt=0)
    burst: float = Field(default=10.0, ge=1)
    rates: dict[str, RateSettings] = Field(default_factory=dict)
    costs: dict[str, float] = Field(default_factory=dict)


class AuditSettings(_Section):
    """Whether and where calls are written down: files in the home folder, or PostgreSQL where DATABASE_URL is set."""

    enabled: bool = True
    store: Literal["auto", "file", "postgres"] = "auto"
    file: Path | None = None
    max_file_bytes: int = Field(default=64 * 1024 * 1024, ge=4096)
    most_waiting: int = Field(default=100_000, ge=100)
    keep_timeout_seconds: float = Field(default=2.0, gt=0, le=30)


class LogSettings(_Section):
    """What goes to standard error."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["text", "json"] = "text"


class Settings(_Section):
    """The whole of it."""

    home: Path = Field(default_factory=lambda: platformdirs.user_data_path("carrel"))
    rooms: tuple[str, ...] = ROOM_NAMES
    server: ServerSettings = ServerSettings()
    papers: PapersSettings = PapersSettings()
    references: ReferencesSettings = ReferencesSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    elasticsearch: ElasticsearchSettings = ElasticsearchSettings()
    research: ResearchSettings = ResearchSettings()
    model: ModelSettings = ModelSettings()
    database: DatabaseSettings = DatabaseSettings()
    auth: AuthSettings = AuthSettings()
    limits: LimitSettings = LimitSettings()
    audit: AuditSettings = AuditSettings()
    log: LogSettings = LogSettings()
    source: Path | None = None

    @property
    def audit_file(self) -> Path:
        return self.audit.file or self.home / "audit" / "audit.jsonl"

    @property
    def base_url(self) -> str:
        """What clients are told this server's address is."""
        if self.server.public_url:
            return self.server.public_url.rstrip("/")
        host = self.server.host
        shown = "localhost" if host in {"0.0.0.0", "::", ""} else f"[{host}]" if ":" in host else host  # noqa: S104
        return f"http://{shown}:{self.server.port}"


# Names that mean the same everywhere, or that neighbours of ours already use; the CARREL_ name wins over them.
_FOREIGN_NAMES = {
    "PORT": ("server", "port"),
    "DATABASE_URL": ("database", "url"),
    "GOOGLE_CLOUD_PROJECT": ("knowledge", "project"),
    "ELASTICSEARCH_URL": ("elasticsearch", "url"),
    "ELASTICSEARCH_HOST": ("elasticsearch", "host"),
    "ELASTICSEARCH_PORT": ("elasticsearch", "port"),
    "ELASTICSEARCH_API_KEY": ("elasticsearch", "api_key"),
    "PAPER_DB_SNAPSHOT_DB": ("papers", "snapshot"),
    "PAPER_DB_STATIC_BASE_URL": ("papers", "static"),
    "PAPER_DB_STATIC_EXPORT_DIR": ("papers", "static"),
    "REFERENCE_MANAGER_LIBRARY": ("references", "library"),
}
_LISTS = {
    ("rooms",),
    ("references", "allowed_folders"),
    *(("server", name) for name in ("allowed_origins", "allowed_hosts", "trusted_proxies")),
    *(("auth", name) for name in ("audience", "algorithms", "redirect_hosts", "platform_scopes", "platform_admins")),
    ("elasticsearch", "indices"),
}

Flat = dict[tuple[str, ...], object]


def read_settings(
    flags: Mapping[tuple[str, ...], object] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    config: Path | None = None,
) -> Settings:
    """Reads all sources and merges them; a bad value names the source it came from."""
    environment = os.environ if environment is None else environment
    from_environment = _from_environment(environment)
    home = (flags or {}).get(("home",)) or from_environment.get(("home",))
    file = _config_file(config, environment, Path(str(home)) if home else platformdirs.user_data_path("carrel"))
    merged = _from_file(file) if file else {}
    origins: dict[tuple[str, ...], str] = dict.fromkeys(_flatten(merged), str(file))
    for path, value in from_environment.items():
        _put(merged, path, value)
        origins[path] = "the environment"
    for path, value in (flags or {}).items():
        if value is not None:
            _put(merged, path, value)
            origins[path] = "the command line"
    try:
        settings = Settings.model_validate({**merged, "source": file})
    except ValidationError as error:
        raise _explained(error, origins) from None
    unknown = sorted(set(settings.rooms) - set(ROOM_NAMES))
    if unknown:
        raise SettingsError(
            f"There is no room called {', '.join(unknown)}",
            next_step=f"Choose from {', '.join(ROOM_NAMES)}.",
            details={"rooms": unknown},
        )
    return settings


def _config_file(given: Path | None, environment: Mapping[str, str], home: Path) -> Path | None:
    named = given or (Path(environment["CARREL_CONFIG"]) if environment.get("CARREL_CONFIG") else None)
    if named is not None:
        if not named.is_file():
            raise SettingsError(f"There is no settings file at {named}", next_step="Correct --config or CARREL_CONFIG.")
        return named
    places = (Path("carrel.toml"), home / "carrel.toml", platformdirs.user_config_path("carrel") / "carrel.toml")
    return next((place.resolve() for place in places if place.is_file()), None)


def _from_file(file: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{file} cannot be read: {error}", next_step="Mend the file; it must be TOML in UTF-8.") from None
    folder = file.parent
    for path in (("home",), ("papers", "snapshot"), ("references", "library"), ("research", "vocabulary"), ("audit", "file")):
        value = _get(values, path)
        if isinstance(value, str):
            _put(values, path, str((folder / Path(value).expanduser()).absolute()))
    return values


def _from_environment(environment: Mapping[str, str]) -> Flat:
    found: Flat = {}
    for name, foreign in _FOREIGN_NAMES.items():
        if environment.get(name):
            found[foreign] = environment[name]
    for path in _known_paths():
        value = environment.get("CARREL_" + "_".join(path).upper())
        if value is not None:
            found[path] = [item.strip() for item in value.split(",") if item.strip()] if path in _LISTS else value
    return found


def _known_paths() -> list[tuple[str, ...]]:
    paths: list[tuple[str, ...]] = []
    for name, field in Settings.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, _Section):
            paths.extend((name, inner) for inner in section.model_fields)
        elif name != "source":
            paths.append((name,))
    return paths


def _explained(error: ValidationError, origins: Mapping[tuple[str, ...], str]) -> SettingsError:
    first = error.errors(include_url=False)[0]
    path = tuple(str(part) for part in first["loc"])
    name = ".".join(path)
    origin = next((origins[path[:length]] for length in range(len(path), 0, -1) if path[:length] in origins), "the settings")
    if first["type"] == "extra_forbidden":
        known = ", ".join(sorted(".".join(known) for known in _known_paths() if known[0] == path[0] or len(path) == 1))
        return SettingsError(f"{origin} sets {name}, which is not a setting", next_step=f"Settings there: {known}.")
    return SettingsError(
        f"{name} = {first['input']!r} from {origin} cannot be used: {first['msg'].lower()}",
        next_step="Correct the value and start again.",
        details={"setting": name, "origin": origin},
    )


def _flatten(values: Mapping[str, Any], before: tuple[str, ...] = ()) -> Flat:
    flat: Flat = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat.update(_flatten(value, (*before, key)))
        flat[(*before, key)] = value
    return flat


def _get(values: Mapping[str, Any], path: tuple[str, ...]) -> object:
    for key in path:
        values = values.get(key, {}) if isinstance(values, Mapping) else {}
    return values or None


def _put(values: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    for key in path[:-1]:
        inner = values.setdefault(key, {})
        if not isinstance(inner, dict):
            inner = values[key] = {}
        values = inner
    values[path[-1]] = value
