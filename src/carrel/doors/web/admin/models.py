"""What the operations of the admin pages answer."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from carrel.core.answer import JobState
from carrel.core.operation import Answer

TokenState = Literal["active", "expired", "revoked"]


class UserRow(Answer):
    name: str
    scopes: list[str]
    is_disabled: bool
    created_at: str
    session_count: int
    token_count: int
    grant_count: int


class UserList(Answer):
    """The users; `has_accounts` is false where the mode of access knows none here."""

    mode: str
    has_accounts: bool
    can_log_in: bool
    users: list[UserRow] = Field(default_factory=list)


class NewPassword(Answer):
    """A password that is shown once; `tokens` still act for the user, unless they are revoked."""

    name: str
    password: str
    tokens: list[str] = Field(default_factory=list)
    are_tokens_revoked: bool = False


class ChangedUser(Answer):
    name: str
    ended_sessions: int = 0
    ended_tokens: int = 0
    ended_grants: int = 0


class TokenRow(Answer):
    name: str
    state: TokenState
    user_name: str | None
    acts_for: str
    scopes: list[str]
    created_at: str
    expires_at: str | None = None
    revoked_at: str | None = None


class TokenList(Answer):
    mode: str
    has_accounts: bool
    takes_tokens: bool
    tokens: list[TokenRow] = Field(default_factory=list)
    users: list[str] = Field(default_factory=list)


class NewToken(Answer):
    """A token whose secret is shown once."""

    name: str
    secret: str
    acts_for: str
    scopes: list[str]
    expires_at: str | None = None


class RevokedAccess(Answer):
    name: str


class GrantRow(Answer):
    """What a person allowed to a program; `client_name` is what the program calls itself."""

    grant_id: str
    user_name: str
    client_id: str
    client_name: str
    scopes: list[str]
    resource: str
    created_at: str
    used_at: str
    expires_at: str


class ClientRow(Answer):
    client_id: str
    name: str
    kind: Literal["settings", "registered", "document"]
    website: str = ""
    redirect_uris: list[str]
    created_at: str = ""
    used_at: str = ""
    grant_count: int = 0


class ClientAccess(Answer):
    mode: str
    has_clients: bool
    grants: list[GrantRow] = Field(default_factory=list)
    clients: list[ClientRow] = Field(default_factory=list)
    registered_count: int = 0


class OwnSession(Answer):
    began_at: str
    expires_at: str


class OwnAccess(Answer):
    """What the caller may do, and what may do so for them."""

    user: str
    mode: str
    scopes: list[str]
    has_account: bool
    makes_tokens: bool = False
    has_password: bool = False
    tokens: list[TokenRow] = Field(default_factory=list)
    grants: list[GrantRow] = Field(default_factory=list)
    sessions: list[OwnSession] = Field(default_factory=list)


class QuotaShare(Answer):
    """What somebody, or a group together, has used today; a quota that is absent is no limit."""

    name: str
    is_group: bool
    calls: float
    calls_quota: float | None = None
    cost: float
    cost_quota: float | None = None
    # Whether an administrator has set it, rather than the settings.
    is_own: bool = False


class QuotaReport(Answer):
    """Today's use; the day ends after so many seconds."""

    is_counting: bool
    seconds_left: int = 0
    shares: list[QuotaShare] = Field(default_factory=list)


class ChangedQuota(Answer):
    name: str


class LeftBehind(Answer):
    """How much of each kind somebody leaves; `audit` says what stays whatever is done."""

    name: str
    counts: dict[str, int]
    audit: str
    is_ended: bool = False


class PartHealth(Answer):
    name: str
    is_well: bool
    says: str
    next_step: str = ""


class StoragePart(Answer):
    """Bytes of one part; `path` is where it lies, `is_made_again` marks what may be lost."""

    name: str
    path: str
    size_bytes: int
    file_count: int
    is_made_again: bool = False


class EmbeddedDatabase(Answer):
    name: str
    path: str
    size_bytes: int
    log_bytes: int
    exists: bool


class CorpusSegment(Answer):
    name: str
    papers: int
    deleted: int
    passages: int
    size_bytes: int


class StorageReport(Answer):
    """Where everything lies and how much it is, as it was measured at a time."""

    home: str
    measured_at: str
    total_bytes: int
    free_bytes: int
    disk_bytes: int
    parts: list[StoragePart]
    databases: list[EmbeddedDatabase]
    segments: list[CorpusSegment]
    corpus_built_at: str = ""
    elsewhere: list[str] = Field(default_factory=list)


class DeskStatus(Answer):
    """The server, and the health of its parts: at a glance, or as thoroughly as the doctor."""

    name: str
    version: str
    mode: str
    address: str
    started_at: str
    uptime_seconds: int
    looked_at: str
    is_thorough: bool
    is_well: bool
    parts: list[PartHealth]
    running_jobs: int


class NamedRate(Answer):
    name: str
    per_minute: float
    burst: float


class RefusedCaller(Answer):
    user_id: str
    address: str
    error_code: str
    count: int
    last_at: str
    actions: list[str]


class LimitReport(Answer):
    """The limits that are set, and who was refused of late."""

    mode: str
    is_limited: bool
    is_shared: bool
    common: NamedRate
    rates: list[NamedRate] = Field(default_factory=list)
    costs: dict[str, float] = Field(default_factory=dict)
    log_in: list[NamedRate] = Field(default_factory=list)
    since: str
    knows_refusals: bool
    problem: str = ""
    refused: list[RefusedCaller] = Field(default_factory=list)


class AuditCall(Answer):
    timestamp: str
    phase: str
    user_id: str
    client_id: str = ""
    door: str
    action: str
    resource: str = ""
    result: str
    error_code: str = ""
    duration_ms: float | None = None
    ip_address: str = ""
    user_agent: str = ""
    request_id: str = ""
    parameters: str = ""


class AuditCalls(Answer):
    """Calls newest first; `cursor` leads on, also where few of the lines read did fit."""

    calls: list[AuditCall]
    cursor: str = ""
    lines_read: int
    reached: str = ""


class AuditCheck(Answer):
    """Whether the log is as it was written."""

    is_whole: bool
    lines: int
    chains: int
    problems: list[str]
    open_ends: list[str]
    notices: list[str]
    torn_lines: int
    is_anchored: bool
    head: str = ""
    took_seconds: float


class AdminJob(Answer):
    """A job of anybody; `done` and `total` are bytes where `in_bytes`."""

    job_id: str
    operation: str
    owner: str
    state: JobState
    message: str
    started_at: str
    updated_at: str
    done: int = 0
    total: int | None = None
    in_bytes: bool = False


class AdminJobList(Answer):
    jobs: list[AdminJob]
    running: int


class BackupFile(Answer):
    name: str
    size_bytes: int
    made_at: str


class BackupList(Answer):
    folder: str
    can_make: bool
    problem: str = ""
    backups: list[BackupFile] = Field(default_factory=list)
    jobs: list[AdminJob] = Field(default_factory=list)
    elsewhere: list[str] = Field(default_factory=list)


class StartedJob(Answer):
    job_id: str


class StreamedFile(Answer):
    """A file to save; `pieces` is an asynchronous iterator of bytes, read by the page alone."""

    name: str
    media_type: str
    size_bytes: int | None = None
    pieces: Any = Field(exclude=True)
