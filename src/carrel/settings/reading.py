"""All settings, and how they are read: flags over environment over carrel.toml over defaults."""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import platformdirs
from pydantic import BaseModel, Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from carrel.core.errors import CarrelError
from carrel.core.secrets import MASK, password_in_url, remember_secrets
from carrel.policy.origin import is_loopback
from carrel.rooms import room_names
from carrel.settings.observability import OTEL_NAMES, ObservabilitySettings, read_otel_value
from carrel.settings.rooms import (
    DatabaseSettings,
    ElasticsearchSettings,
    JobSettings,
    KnowledgeSettings,
    LiteratureSettings,
    ModelSettings,
    PapersSettings,
    ReferencesSettings,
    ResearchSettings,
)
from carrel.settings.server import (
    AuditSettings,
    AuthSettings,
    LimitSettings,
    LogSettings,
    QuotaSettings,
    ServerSettings,
)

# Names that mean the same everywhere, or that neighbours use; the CARREL_ name wins over them.
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
# Names that platforms set whose instances come and go: files end with an instance, unless the
# operator mounts a volume.
_CLOUD_RUN = "Cloud Run"
_PLATFORMS = {"K_SERVICE": _CLOUD_RUN, "KUBERNETES_SERVICE_HOST": "Kubernetes"}
# Names of ours that are not settings: the file, what a server hands its workers, and tests' names.
_OTHER_NAMES = {
    "CARREL_CONFIG",
    "CARREL_RESOLVED_SETTINGS",
    "CARREL_METRICS_FOLDER",
    "CARREL_MODEL_BASE_URL",
}
_TEST_PREFIX = "CARREL_TEST_"
# Filled in by reading, not by an operator.
_NOT_SETTABLE = {"source", "unknown_variables", "platform"}
_SECRET_ENDINGS = ("key", "secret", "password", "token", "otlp_headers")

SettingPath = tuple[str, ...]


class SettingsError(CarrelError):
    """A setting that cannot be used; says which one, where it came from and what it may be."""

    code = "invalid_settings"


class Settings(BaseSettings):
    """Everything an operator may set. Made directly, it reads nothing from outside."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True)

    home: Path = Field(default_factory=lambda: platformdirs.user_data_path("carrel"))
    cache: Path | None = Field(
        default=None,
        description="Folder of what is made again by itself (the search index, concepts of "
        "papers), best on a disk of this machine; the home folder where it is not set. Replicas "
        "that share a home over a network need one each",
    )
    rooms: tuple[str, ...] = Field(default_factory=room_names)
    network: bool = Field(
        default=True,
        description="Whether anything may be asked of literature services and other hosts; false "
        "forbids look-ups, searches and downloads. Servers that settings themselves name stay "
        "allowed: papers.static, GROBID, docling, models, Elasticsearch, PostgreSQL, sign-in",
    )
    server: ServerSettings = ServerSettings()
    papers: PapersSettings = PapersSettings()
    references: ReferencesSettings = ReferencesSettings()
    literature: LiteratureSettings = LiteratureSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    elasticsearch: ElasticsearchSettings = ElasticsearchSettings()
    research: ResearchSettings = ResearchSettings()
    jobs: JobSettings = JobSettings()
    model: ModelSettings = ModelSettings()
    database: DatabaseSettings = DatabaseSettings()
    auth: AuthSettings = AuthSettings()
    limits: LimitSettings = LimitSettings()
    quotas: QuotaSettings = QuotaSettings()
    audit: AuditSettings = AuditSettings()
    log: LogSettings = LogSettings()
    observability: ObservabilitySettings = ObservabilitySettings()
    source: Path | None = None
    unknown_variables: dict[str, str | None] = Field(default_factory=dict)
    # The platform that says it runs this process, by its name for people; empty for none.
    platform: str = ""

    def model_post_init(self, context: object, /) -> None:
        """Register the secrets, so that they are masked in all stored or shown text."""
        remember_secrets(_secrets_in(self))

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)

    @property
    def audit_file(self) -> Path:
        return self.audit.file or self.home / "audit" / "audit.jsonl"

    @property
    def knowledge_store(self) -> Literal["sqlite", "postgres", "firestore"]:
        """The store of notes and nodes, with `auto` resolved."""
        if self.knowledge.store == "auto":
            return "postgres" if self.database.url else "sqlite"
        return self.knowledge.store

    @property
    def has_library_rows(self) -> bool:
        """Whether libraries are rows of the database, with `auto` resolved."""
        if self.references.store == "auto":
            return bool(self.database.url)
        return self.references.store == "database"

    @property
    def serves_libraries(self) -> bool:
        """Whether what is written into a library lasts."""
        return self.has_library_rows or self.keeps_home

    @property
    def cache_folder(self) -> Path:
        return self.cache or self.home

    @property
    def keeps_home(self) -> bool:
        """Whether the home folder is durable and shared by every replica."""
        if self.server.home_is_persistent is None:
            return not (self.database.url or self.is_one_of_several)
        return self.server.home_is_persistent

    @property
    def keeps_papers(self) -> bool:
        """Whether what is added to the corpus lasts; long additions are jobs, which must, too."""
        return self.keeps_home or bool(self.papers.corpus_url and self.database.url)

    @property
    def is_one_of_several(self) -> bool:
        """Whether other servers answer beside this one, or take its place with other files.

        In Kubernetes a server that listens on loopback alone is a person's own.
        """
        if self.platform == "Kubernetes" and not is_loopback(self.server.host):
            return True
        return self.is_on_cloud_run or (self.server.replicas or 1) > 1

    @property
    def is_on_cloud_run(self) -> bool:
        """Whether Cloud Run started this process, whatever it checks."""
        return self.platform == _CLOUD_RUN

    @property
    def base_url(self) -> str:
        """The server's address as given to clients."""
        if self.server.public_url:
            return self.server.public_url.rstrip("/")
        host = self.server.host
        if host in {"0.0.0.0", "::", ""}:  # noqa: S104 - shown, not listened on
            host = "localhost"
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server.port}"


def _secrets_in(section: BaseModel) -> Iterator[str | None]:
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            yield from _secrets_in(value)
        elif isinstance(value, str):
            yield value if name.endswith(_SECRET_ENDINGS) else password_in_url(value)


def read_settings(
    flags: Mapping[SettingPath, object] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    config: Path | None = None,
) -> Settings:
    """Read and merge all sources; raises SettingsError that names the source of a bad value."""
    environment = os.environ if environment is None else environment
    given = {path: value for path, value in (flags or {}).items() if value is not None}
    variables = _read_environment(environment)
    home = given.get(("home",)) or variables.get(("home",))
    file = _config_file(config, environment, Path(str(home)) if home else None)
    layers: dict[str, dict[str, Any]] = {
        "the command line": _nest(given),
        "the environment": _nest(variables),
        str(file): _read_file(file) if file else {},
        "OpenTelemetry's variables": _nest(_read_otel_variables(environment)),
    }
    platforms = [name for variable, name in _PLATFORMS.items() if environment.get(variable)]
    facts = {
        "source": file,
        "unknown_variables": unknown_variables(environment),
        "platform": platforms[0] if platforms else "",
    }
    sources = tuple(InitSettingsSource(Settings, layer) for layer in (facts, *layers.values()))
    try:
        settings = Settings(_build_sources=(sources, {}))
    except ValidationError as error:
        raise _explain(error, layers) from None
    unknown = sorted(set(settings.rooms) - set(room_names()))
    if unknown:
        raise SettingsError(
            f"There is no room called {', '.join(unknown)}",
            next_step=f"Choose from {', '.join(room_names())}.",
            details={"rooms": unknown},
        )
    return settings


def _config_file(
    given: Path | None, environment: Mapping[str, str], home: Path | None
) -> Path | None:
    named = given or environment.get("CARREL_CONFIG")
    if named:
        if not Path(named).is_file():
            raise SettingsError(
                f"There is no settings file at {named}",
                next_step="Correct --config or CARREL_CONFIG.",
            )
        return Path(named)
    folders = [Path(), *([home] if home is not None else [])]
    try:
        folders += [] if home is not None else [platformdirs.user_data_path("carrel")]
        folders.append(platformdirs.user_config_path("carrel"))
    except RuntimeError:
        # A user whom the system does not know, as a container may have, has no folders.
        if home is None:
            raise SettingsError(
                "This user has no home folder",
                next_step="Name a folder with --home or CARREL_HOME.",
            ) from None
    places = [folder / "carrel.toml" for folder in folders]
    return next((place.resolve() for place in places if place.is_file()), None)


def _read_file(file: Path) -> dict[str, Any]:
    try:
        values: dict[str, Any] = TomlConfigSettingsSource(Settings, toml_file=file).toml_data
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(
            f"{file} cannot be read: {error}", next_step="Mend the file; it must be TOML in UTF-8."
        ) from None
    for path, kind in known_settings().items():
        section = _find(values, path[:-1])
        if kind.is_place and isinstance(section, dict) and path[-1] in section:
            section[path[-1]] = _absolute(section[path[-1]], file.parent)
    return values


def _read_otel_variables(environment: Mapping[str, str]) -> dict[SettingPath, object]:
    """What OpenTelemetry's variables say; settings of ours, also those of the file, come first."""
    return {
        ("observability", setting): read_otel_value(setting, environment[name])
        for name, setting in OTEL_NAMES.items()
        if environment.get(name)
    }


def _read_environment(environment: Mapping[str, str]) -> dict[SettingPath, object]:
    found: dict[SettingPath, object] = {
        path: environment[name] for name, path in _FOREIGN_NAMES.items() if environment.get(name)
    }
    for path, kind in known_settings().items():
        value = environment.get(variable_name(path))
        if value is not None and not (kind.is_place and not value):
            found[path] = _read_list(".".join(path), value) if kind.is_list else value
    return found


def _read_list(name: str, value: str) -> list[str]:
    """The words of a variable: separated by commas, or a JSON list of texts."""
    if not value.lstrip().startswith("["):
        return [word.strip() for word in value.split(",") if word.strip()]
    try:
        words = json.loads(value)
    except (ValueError, RecursionError):
        words = None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise SettingsError(
            f"{name} in the environment begins like a JSON list and is none",
            next_step='Separate the values by commas (a,b), or write a JSON list (["a", "b"]).',
            details={"setting": name, "origin": "the environment"},
        )
    return [word for word in words if word.strip()]


def _nest(values: Mapping[SettingPath, object]) -> dict[str, Any]:
    """Values by their paths as nested tables; places are taken from the present folder."""
    nested: dict[str, Any] = {}
    for path, value in values.items():
        table = nested
        for key in path[:-1]:
            table = table.setdefault(key, {})
        kind = known_settings().get(path)
        table[path[-1]] = _absolute(value, Path()) if kind and kind.is_place else value
    return nested


def _absolute(value: object, folder: Path) -> object:
    """A path or list of paths made absolute; a URL is not changed."""
    if isinstance(value, list):
        return [_absolute(each, folder) for each in value]
    if isinstance(value, Path):
        value = str(value)
    if not isinstance(value, str) or "://" in value:
        return value
    return str((folder / Path(value).expanduser()).absolute())


def variable_name(path: SettingPath) -> str:
    """The environment variable of a setting."""
    return "CARREL_" + "_".join(path).upper()


def unknown_variables(environment: Mapping[str, str]) -> dict[str, str | None]:
    """Unknown variables with our prefix, each with the nearest real name, if any."""
    known = {variable_name(path) for path in known_settings()} | _OTHER_NAMES
    by_ending = {name.removeprefix("CARREL_"): name for name in known}
    unknown: dict[str, str | None] = {}
    for name in sorted(environment):
        if name.startswith("CARREL_") and not name.startswith(_TEST_PREFIX) and name not in known:
            near = difflib.get_close_matches(name.removeprefix("CARREL_"), by_ending, 1, 0.6)
            unknown[name] = by_ending[near[0]] if near else None
    return unknown


@dataclass(frozen=True, slots=True)
class SettingKind:
    """How a setting's text is parsed: as a list of words, as a file or folder."""

    is_list: bool
    is_place: bool


@cache
def known_settings() -> dict[SettingPath, SettingKind]:
    """Every setting by its path, in the order of the sections."""
    return dict(_settings_of(Settings))


def _settings_of(
    section: type[BaseModel], before: SettingPath = ()
) -> Iterator[tuple[SettingPath, SettingKind]]:
    for name, field in section.model_fields.items():
        path, annotation = (*before, name), field.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield from _settings_of(annotation, path)
        elif before or name not in _NOT_SETTABLE:
            parts = {annotation, *_parts_of(annotation)}
            # `static` is a folder or an address, so its type is text.
            is_place = Path in parts or path == ("papers", "static")
            yield path, SettingKind(any(get_origin(part) is tuple for part in parts), is_place)


def _parts_of(annotation: object) -> Iterator[object]:
    for part in get_args(annotation):
        yield part
        yield from _parts_of(part)


def _explain(error: ValidationError, layers: Mapping[str, dict[str, Any]]) -> SettingsError:
    first = error.errors(include_url=False)[0]
    path = tuple(str(part) for part in first["loc"])
    name = ".".join(path)
    prefixes = [path[:length] for length in range(len(path), 0, -1)]
    origin = next(
        (
            each
            for at in prefixes
            for each, values in layers.items()
            if _find(values, at) is not None
        ),
        "the settings",
    )
    if first["type"] == "extra_forbidden":
        names = [".".join(known) for known in known_settings()]
        nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
        meant = f"Did you mean {nearest[0]}? " if nearest else ""
        there = sorted(n for n in names if len(path) == 1 or n.split(".")[0] == path[0])
        return SettingsError(
            f"{origin} sets {name}, which is not a setting",
            next_step=f"{meant}Settings there: {', '.join(there)}.",
        )
    is_secret = any(word in name for word in (*_SECRET_ENDINGS, "url"))
    shown = MASK if is_secret else repr(first["input"])
    # The words of the settings file, not those of Python.
    said = first["msg"].lower().replace("a valid tuple", 'a list, such as ["…"]')
    return SettingsError(
        f"{name} = {shown} from {origin} cannot be used: {said}",
        next_step="Correct the value and start again.",
        details={"setting": name, "origin": origin},
    )


def _find(values: Mapping[str, Any], path: SettingPath) -> Any:
    found: Any = values
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found
