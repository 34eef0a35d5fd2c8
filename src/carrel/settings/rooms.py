"""Settings of the rooms and of what they use: databases, search, models, background jobs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError


class Section(BaseModel):
    """Base of every section: no unknown names, never changed after it was read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PapersSettings(Section):
    """The corpus: where it and its texts are, and what may be added to it how."""

    snapshot: Path | None = None
    static: str | None = None
    corpus_url: str | None = Field(
        default=None,
        max_length=1000,
        pattern=r"^(s3|gs|file)://",
        description="A published corpus that this server follows and changes together with others: "
        "s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or file:///FOLDER; credentials come from the usual "
        "variables of the environment",
    )
    corpus_every_seconds: float = Field(
        default=10.0, gt=0, le=3600, description="How often a published corpus is looked at"
    )
    search: Literal["auto", "fts5", "elasticsearch"] = "auto"
    store: Literal["corpus", "elasticsearch"] = Field(
        default="corpus",
        description="elasticsearch: papers are searched and read in the cluster that another "
        "server fills, without a corpus here",
    )
    asset_timeout_seconds: float = Field(default=10.0, gt=0)
    max_asset_bytes: int = Field(default=32 * 1024 * 1024, ge=1024)
    allowed_folders: tuple[Path, ...] = Field(
        default=(), description="Folders from which add_paper takes paths over HTTP"
    )
    watch: tuple[Path, ...] = Field(
        default=(), description="Folders that a server keeps the corpus in step with"
    )
    watch_every_seconds: float = Field(
        default=5.0, gt=0, le=3600, description="How often watched folders are looked at"
    )
    grobid_url: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="A GROBID server that is asked for title page and references of PDFs",
    )
    docling_url: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="A docling-serve server that is asked for the text of PDFs",
    )
    add_wait_seconds: float = Field(
        default=20.0,
        ge=0,
        le=100,
        description="How long adding a paper waits before it goes on as a job",
    )
    task_after_seconds: float = Field(
        default=1.0,
        ge=0,
        le=100,
        description="The same where the client follows long work as a task",
    )
    max_upload_bytes: int = Field(
        default=200 * 1024 * 1024, ge=1, description="Bytes of one uploaded file"
    )
    max_open_uploads: int = Field(
        default=16, ge=1, le=1000, description="Uploads that one caller may have at once"
    )
    max_upload_bytes_per_caller: int = Field(
        default=1024**3, ge=1, description="Bytes of all uploads of one caller"
    )
    upload_hours: float = Field(
        default=24.0, gt=0, le=24 * 30, description="Unused uploads are deleted after this long"
    )


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

    store: Literal["auto", "files", "database"] = Field(
        default="auto",
        description="Libraries as files of the home, or as rows of the database; auto: rows where "
        "DATABASE_URL is set",
    )
    library: Path | None = None
    attachments: Path | None = None
    styles: Path | None = None
    default_style: str = "apa"
    default_locale: str | None = None
    import_titles: Literal["as-written", "sentence"] = Field(
        default="as-written",
        description="BibTeX titles in Title Case are imported so, or put into sentence case",
    )
    key_pattern: str = Field(
        default="",
        max_length=200,
        description="Keys of added references, such as {authors:2}{year}{title:1}; unset: "
        "family-year",
    )
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


class LiteratureAddresses(Section):
    """Addresses of literature services, where they are not the usual ones."""

    openalex: str | None = None
    crossref: str | None = None
    pubmed: str | None = None
    europepmc: str | None = None
    arxiv: str | None = None
    arxiv_texts: str | None = None
    semantic_scholar: str | None = None
    dblp: str | None = None
    datacite: str | None = None
    doaj: str | None = None
    unpaywall: str | None = None
    opencitations: str | None = None
    biorxiv: str | None = None


class LiteratureSettings(Section):
    """Literature services: which are asked, keys, and how answers are kept and repeated."""

    services: tuple[str, ...] = Field(
        default=(),
        description="Services that search_literature asks; none named: openalex, crossref, pubmed, "
        "europepmc, arxiv, and semantic_scholar where its key is set",
    )
    contact: str = Field(
        default="",
        description="Mail address told to services, which then answer faster; references.contact "
        "where it is not set",
    )
    mode: Literal["live", "record", "replay", "offline"] = Field(
        default="live",
        description="record keeps every answer in `recordings`, replay asks those alone, offline "
        "answers from the cache alone",
    )
    recordings: Path | None = Field(
        default=None, description="Folder of recorded answers; in the home where it is not set"
    )
    openalex_api_key: str = ""
    semantic_scholar_api_key: str = ""
    pubmed_api_key: str = ""
    crossref_token: str = ""
    opencitations_token: str = ""
    timeout_seconds: float = Field(
        default=20.0, gt=0, le=110, description="How long a search waits for each service"
    )
    max_cost_usd: float | None = Field(
        default=None, ge=0, description="What one call may cost at services that charge"
    )
    max_download_bytes: int = Field(
        default=100_000_000, ge=1024, description="Bytes of one downloaded text"
    )
    max_cache_bytes: int = Field(
        default=256 * 1024 * 1024,
        ge=1024,
        description="Bytes of all kept answers; the oldest are removed",
    )
    proxy: str | None = Field(
        default=None,
        pattern=r"^(https?|socks5h?)://",
        description="Proxy for services and downloads; without it, services are asked by the "
        "environment's (HTTPS_PROXY) and downloads go directly. It must refuse private addresses",
    )
    private_hosts: tuple[str, ...] = Field(
        default=(),
        description="Hosts with their port, on private networks, that texts may be downloaded "
        "from, such as a mirror of the institute; no other private address is ever reached",
    )
    retraction_watch: Path | None = Field(
        default=None, description="The Retraction Watch table (CSV) that is checked off line"
    )
    alerts_every_hours: float | None = Field(
        default=None, gt=0, le=24 * 31, description="How often a server runs alerts; unset: never"
    )
    addresses: LiteratureAddresses = LiteratureAddresses()


class KnowledgeSettings(Section):
    """Where notes and nodes are kept; `auto` is PostgreSQL with DATABASE_URL, else SQLite."""

    store: Literal["auto", "sqlite", "postgres", "firestore"] = Field(
        default="auto",
        description="auto: PostgreSQL where DATABASE_URL is set, else SQLite; Firestore only when "
        "it is named",
    )
    project: str | None = None
    database: str = "(default)"


class ElasticsearchSettings(Section):
    """An Elasticsearch cluster; `indices` may be asked beside our own."""

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
    """How long a research call waits, how many runs at once, and the budget for models."""

    patience_seconds: float = Field(default=20.0, gt=0, le=110)
    task_after_seconds: float = Field(default=1.0, ge=0, le=110)
    most_projects_at_once: int = Field(default=4, ge=1, le=64)
    lease_seconds: float = Field(default=20.0, ge=1)
    start_elo: float = 1000.0
    vocabulary: Path | None = None
    max_model_calls: int | None = Field(default=None, ge=1)
    max_cost: float | None = Field(default=None, gt=0)


class JobSettings(Section):
    """Background jobs: how many at once, how long a silent worker keeps one, retention."""

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


def _is_key_words(url: str) -> bool:
    """Whether it is the driver's other form: `host=… dbname=…`."""
    return "://" not in url and url.lstrip().partition("=")[0].strip().isidentifier() and "=" in url


class DatabaseSettings(Section):
    """PostgreSQL for shared state; without it, SQLite in the home folder."""

    url: str | None = None
    # Connections of one process at the most, over all rooms; PgBouncer or max_connections bounds
    # their sum over processes and replicas.
    pool_size: int = Field(default=12, ge=2, le=500)
    # How long a call waits for a free connection, and for a server that does not answer.
    pool_wait_seconds: float = Field(default=1.0, gt=0, le=60)
    # Off by default: a transaction pooler before the server hands out other connections.
    prepared_statements: bool = False
    migrate_at_start: bool = Field(
        default=True,
        description="Whether whoever first uses the database brings older tables forward; false: "
        "carrel migrate does, and until then older tables are refused",
    )

    @field_validator("url")
    @classmethod
    def check_url(cls, url: str | None) -> str | None:
        """Refuse what is no address of a PostgreSQL, without repeating its password."""
        if url and not url.startswith(("postgresql://", "postgres://")) and not _is_key_words(url):
            problem = "it is no address of a PostgreSQL, which is postgresql://user@host:port/name"
            raise PydanticCustomError("database_url", problem)
        if url and "://" in url:
            _check_hosts(url.partition("://")[2])
        return url


def _check_hosts(rest: str) -> None:
    """Refuse ports that are none, and signs of a password that PostgreSQL takes for the host.

    As PostgreSQL's own library reads it, the password ends at the first @ before a slash.
    """
    authority = re.split(r"[/?]", rest, maxsplit=1)[0]
    hosts = authority.partition("@")[2] if "@" in authority else authority
    if "@" in hosts:
        problem = "write an @ in the user's name or password as %40"
        raise PydanticCustomError("database_url", problem)
    for host in hosts.split(","):
        port = host.rpartition("]")[2].partition(":")[2]
        if port and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
            problem = (
                "what stands behind the last colon of its host is no port (1 to 65535); in the "
                "password write / as %2F, @ as %40, # as %23 and : as %3A"
            )
            raise PydanticCustomError("database_url", problem)
