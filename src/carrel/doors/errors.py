"""Maps error codes to HTTP status, JSON-RPC code and exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from carrel.core.errors import CarrelError

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL = -32603
APPLICATION = -32000
UNAUTHENTICATED = -32001
RESOURCE_NOT_FOUND = -32002
FORBIDDEN = -32003
LIMITED = -32004
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022


@dataclass(frozen=True, slots=True)
class ErrorMapping:
    """How one code is reported; `is_refusal` means that the call never ran."""

    http_status: int
    json_rpc_code: int
    exit_code: int
    is_refusal: bool = False


_UNAVAILABLE = 503
# What is told where an error does not say itself when to come back.
_RETRY_SECONDS = 2
_NOT_FOUND = ErrorMapping(404, RESOURCE_NOT_FOUND, 3)
_BAD = ErrorMapping(400, INVALID_PARAMS, 2)

TABLE: dict[str, ErrorMapping] = {
    "invalid_input": _BAD,
    "input_too_costly": ErrorMapping(422, INVALID_PARAMS, 2),
    "invalid_settings": ErrorMapping(500, INTERNAL, 2),
    "unknown_tool": ErrorMapping(400, INVALID_PARAMS, 2, is_refusal=True),
    "resource_not_found": _NOT_FOUND,
    "conflict": ErrorMapping(409, APPLICATION, 6),
    "unavailable": ErrorMapping(503, APPLICATION, 5),
    "storage_full": ErrorMapping(507, APPLICATION, 5),
    "home_not_persistent": ErrorMapping(503, APPLICATION, 5),
    "not_configured": ErrorMapping(503, APPLICATION, 5),
    "network_forbidden": ErrorMapping(503, APPLICATION, 5),
    "literature_unavailable": ErrorMapping(503, APPLICATION, 5),
    "timed_out": ErrorMapping(504, APPLICATION, 5),
    "audit_unavailable": ErrorMapping(503, APPLICATION, 5),
    "unauthenticated": ErrorMapping(401, UNAUTHENTICATED, 4, is_refusal=True),
    "insufficient_permissions": ErrorMapping(403, FORBIDDEN, 4, is_refusal=True),
    "login_refused": ErrorMapping(401, UNAUTHENTICATED, 4, is_refusal=True),
    "oauth_refused": ErrorMapping(400, INVALID_REQUEST, 4, is_refusal=True),
    "permission_denied": ErrorMapping(403, FORBIDDEN, 4),
    "rate_limit_exceeded": ErrorMapping(429, LIMITED, 5, is_refusal=True),
    "quota_exceeded": ErrorMapping(429, LIMITED, 5, is_refusal=True),
    "internal_error": ErrorMapping(500, INTERNAL, 1),
    "paper_not_found": _NOT_FOUND,
    "paper_changed": ErrorMapping(409, APPLICATION, 6),
    "read_only_corpus": ErrorMapping(409, APPLICATION, 6),
    "decision_not_found": _NOT_FOUND,
    "paper_not_added": _BAD,
    "upload_too_large": ErrorMapping(413, APPLICATION, 2),
    "upload_refused": ErrorMapping(415, APPLICATION, 2),
    "template_not_available": _NOT_FOUND,
    "source_not_available": _NOT_FOUND,
    "translation_not_available": _NOT_FOUND,
    "bibtex_not_available": _NOT_FOUND,
    "passage_not_found": _NOT_FOUND,
    "review_not_available": _NOT_FOUND,
    "section_not_found": _NOT_FOUND,
    "citations_unknown": _NOT_FOUND,
    "figure_not_found": _NOT_FOUND,
    "part_not_found": _NOT_FOUND,
    "page_not_found": _NOT_FOUND,
    "page_not_drawn": _NOT_FOUND,
    "asset_fetch_failed": ErrorMapping(503, APPLICATION, 5),
    "schema_mismatch": ErrorMapping(503, APPLICATION, 5),
    "database_replaced": ErrorMapping(503, APPLICATION, 5),
    "database_not_empty": ErrorMapping(409, APPLICATION, 6),
    "snapshot_unavailable": ErrorMapping(503, APPLICATION, 5),
    "search_too_broad": _BAD,
    "unsupported_clause": _BAD,
    "refused_clause": _BAD,
    "index_not_allowed": ErrorMapping(403, FORBIDDEN, 4),
    "index_building": ErrorMapping(503, APPLICATION, 5),
    "not_found": ErrorMapping(404, INVALID_REQUEST, 2, is_refusal=True),
    "method_not_allowed": ErrorMapping(405, INVALID_REQUEST, 2, is_refusal=True),
    "malformed_request": ErrorMapping(400, INVALID_REQUEST, 2, is_refusal=True),
    "server_busy": ErrorMapping(503, APPLICATION, 5, is_refusal=True),
    "body_too_large": ErrorMapping(413, INVALID_REQUEST, 2, is_refusal=True),
    "body_too_slow": ErrorMapping(408, INVALID_REQUEST, 5, is_refusal=True),
    "host_not_allowed": ErrorMapping(421, FORBIDDEN, 4, is_refusal=True),
    "origin_not_allowed": ErrorMapping(403, FORBIDDEN, 4, is_refusal=True),
    "stale_form": ErrorMapping(403, FORBIDDEN, 4, is_refusal=True),
    "library_unavailable": ErrorMapping(503, APPLICATION, 5),
    "interrupted": ErrorMapping(503, APPLICATION, 5),
    "lookup_unavailable": ErrorMapping(503, APPLICATION, 5),
    "style_not_found": _NOT_FOUND,
    "citation_failed": ErrorMapping(400, APPLICATION, 2),
    "fulltext_not_available": _NOT_FOUND,
    "unsafe_goal": ErrorMapping(422, APPLICATION, 2),
    "goal_not_in_corpus": ErrorMapping(422, APPLICATION, 2),
    "goal_unclear": ErrorMapping(422, APPLICATION, 2),
    "no_connection_found": ErrorMapping(422, APPLICATION, 2),
    "no_hypothesis": ErrorMapping(422, APPLICATION, 2),
    "nothing_to_evolve": ErrorMapping(409, APPLICATION, 6),
    "budget_exhausted": ErrorMapping(409, APPLICATION, 6),
    "model_unavailable": ErrorMapping(503, APPLICATION, 5),
}

UNAVAILABLE_EXIT = 5
INTERRUPTED_EXIT = 130
PIPE_CLOSED_EXIT = 141
# What each exit code of the command line means; those above 128 are a signal's number and 128.
EXIT_CODES: dict[int, str] = {
    0: "done; where nothing was found, it says so",
    1: "nothing of what was asked could be done, something is not well (`doctor`, `audit verify`, "
    "`backup --verify`), or a bug",
    2: "the command, its options or what it was given do not fit",
    3: "what was named is not there",
    4: "not allowed",
    5: "a file, store or service cannot be used now; the same command may work later",
    6: "it does not fit what is there now: changed meanwhile, or not to be changed",
    INTERRUPTED_EXIT: "interrupted (Ctrl-C)",
    PIPE_CLOSED_EXIT: "whoever read the output stopped reading",
    143: "ended by SIGTERM",
}


def exit_of_failures(codes: Sequence[str], otherwise: int) -> int:
    """5 where all failures are such that the same command may work later."""
    exits = {TABLE.get(code, TABLE["internal_error"]).exit_code for code in codes}
    return UNAVAILABLE_EXIT if exits == {UNAVAILABLE_EXIT} else otherwise


def error_mapping(error: CarrelError) -> ErrorMapping:
    """The mapping of an error; an unmapped code is reported as an internal error."""
    return TABLE.get(error.code, TABLE["internal_error"])


def find_retry_after(error: CarrelError) -> int | None:
    """After how many seconds the caller may try again; None where trying again does not help."""
    stated = error.details.get("retry_after")
    if isinstance(stated, int):
        return stated
    if error.is_retryable and error_mapping(error).http_status == _UNAVAILABLE:
        return _RETRY_SECONDS
    return None
