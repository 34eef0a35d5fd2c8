"""The gate of every call: identify, authorize, charge, run and audit."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import logging
import re
import secrets
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import ValidationError

from carrel.core.caller import ANONYMOUS_USER, COMMAND_LINE, Call, Caller, ReportProgress, Visit
from carrel.core.clock import Clock
from carrel.core.completion import NO_COMPLETION, Completion, CompletionRequest
from carrel.core.errors import (
    AuditUnavailableError,
    CarrelError,
    CostlyInputError,
    InsufficientPermissionsError,
    InternalError,
    InvalidInputError,
    StorageFullError,
    TimedOutError,
    UnavailableError,
    UnknownOperationError,
    describe_cause,
)
from carrel.core.name_suggestions import near_names
from carrel.core.operation import (
    ArgumentCompletion,
    Effect,
    Entry,
    Operation,
    Prompt,
    Question,
    Resource,
)
from carrel.core.waiting import within
from carrel.libraries.text.budget import InputTooCostlyError
from carrel.policy.audit import REFUSED, Audit, AuditRecord, mask_parameters
from carrel.policy.identity import Identity
from carrel.policy.limits import Limits
from carrel.policy.quotas import NoQuotas, Quotas

if TYPE_CHECKING:
    from carrel.core.call_observer import CallObserver

log = logging.getLogger("carrel.gate")
# Doors cut it already; a longer one would still fill the audit log.
_LONGEST_USER_AGENT = 300
AnswerT = TypeVar("AnswerT")

STRANGER = Caller(user_id=ANONYMOUS_USER, scopes=frozenset())


class Gate:
    """Holds the policies, and lets calls through one at a time, each leaving its record."""

    def __init__(
        self,
        identity: Identity,
        limits: Limits,
        audit: Audit,
        clock: Clock,
        quotas: Quotas | None = None,
        observer: CallObserver | None = None,
    ) -> None:
        self._observer = observer
        self._quotas = quotas or NoQuotas()
        self._has_quotas = quotas is not None and not isinstance(quotas, NoQuotas)
        self._identity = identity
        self._limits = limits
        self._audit = audit
        self._clock = clock

    async def identify(self, visit: Visit) -> Caller:
        """The caller of a visit; a refusal is audited."""
        try:
            return await self._identity.identify(visit)
        except CarrelError as refusal:
            self.record_refusal(visit, "identify", "mcp://", refusal)
            raise

    async def check_allowance(self, caller: Caller, visit: Visit) -> None:
        """Raises RateLimitExceededError if nothing is left, before a large body is read."""
        await self._limits.check(caller, visit)

    async def admit_piece(self, entry: Entry, caller: Caller, visit: Visit) -> None:
        """Check scopes and charge for a part of a longer exchange, which is audited as a whole."""
        try:
            if not entry.scopes <= caller.scopes:
                raise InsufficientPermissionsError(entry.scopes, caller.scopes)
            await self._limits.charge(caller, visit, entry)
            if self._has_quotas:
                await self._quotas.charge(caller, entry)
        except CarrelError as refusal:
            self.record_refusal(visit, entry.action, entry.address, refusal, caller)
            raise

    async def call(
        self,
        operation: Operation[Any],
        arguments: Mapping[str, object],
        caller: Caller,
        visit: Visit,
        progress: ReportProgress | None = None,
        *,
        can_follow: bool = False,
        question: Question | None = None,
    ) -> Any:
        """Runs an operation on arguments that came from outside.

        `question` is what they were read as, where a door has read them already.
        """
        if operation.is_local and visit.door != COMMAND_LINE:
            refusal = UnknownOperationError(operation.name)
            self.record_refusal(visit, operation.action, operation.address, refusal, caller)
            raise refusal

        if question is not None:
            return await self._admit(
                operation,
                caller,
                visit,
                arguments,
                lambda call: operation.run(question, call),
                progress,
                can_follow,
            )

        async def work(call: Call) -> Any:
            validate = operation.question.__pydantic_validator__.validate_python
            try:
                asked = validate(arguments)
            except ValidationError as error:
                try:
                    asked = validate(convert_integral_floats(arguments, error))
                except ValidationError as wrong:
                    await self._quotas.give_back(caller, operation)
                    names = list(operation.question.model_fields)
                    raise to_invalid_input_error(wrong, names) from None
            return await operation.run(asked, call)

        return await self._admit(operation, caller, visit, arguments, work, progress, can_follow)

    async def read(
        self, resource: Resource, variables: Mapping[str, str], caller: Caller, visit: Visit
    ) -> Any:
        """Read a resource; `variables` come from its matched address."""
        return await self._admit(
            resource, caller, visit, variables, lambda call: resource.read(variables, call)
        )

    async def expand(
        self, prompt: Prompt, arguments: Mapping[str, str], caller: Caller, visit: Visit
    ) -> Any:
        """Expands a prompt."""
        return await self._admit(
            prompt, caller, visit, arguments, lambda call: prompt.expand(arguments, call)
        )

    async def complete(
        self,
        completion: ArgumentCompletion,
        request: CompletionRequest,
        caller: Caller,
        visit: Visit,
    ) -> Completion:
        """Suggested values for an argument; empty if its resource or prompt has none."""

        async def work(call: Call) -> Completion:
            complete = completion.subject.complete
            return NO_COMPLETION if complete is None else await complete(request, call)

        return await self._admit(
            completion, caller, visit, {**request.given, request.argument: request.value}, work
        )

    def record_refusal(
        self,
        visit: Visit,
        action: str,
        resource: str,
        refusal: CarrelError,
        caller: Caller = STRANGER,
    ) -> None:
        """Audit a call that was refused before it ran."""
        if self._observer is not None:
            self._observer.refused(visit, refusal.code)
        self._audit.write(
            self._record(
                REFUSED, caller, visit, action, resource, None, "failure", refusal.code, None
            )
        )

    def record_event(
        self,
        visit: Visit,
        action: str,
        resource: str,
        caller: Caller,
        parameters: Mapping[str, object],
    ) -> None:
        """Writes down an event outside the catalogue, such as a log-in or an issued token."""
        record = self._record(
            "noted",
            caller,
            visit,
            action,
            resource,
            mask_parameters(parameters),
            "success",
            None,
            None,
        )
        self._audit.write(record)

    async def _admit(
        self,
        entry: Entry,
        caller: Caller,
        visit: Visit,
        parameters: Mapping[str, object],
        work: Callable[[Call], Coroutine[Any, Any, AnswerT]],
        progress: ReportProgress | None = None,
        can_follow: bool = False,
    ) -> AnswerT:
        await self.admit_piece(entry, caller, visit)
        action, address = entry.action, entry.address
        shown = mask_parameters(parameters)
        record = self._record(
            "started", caller, visit, action, address, shown, "started", None, None
        )
        if entry.effect is Effect.READS:
            self._audit.write(record)
        else:
            try:
                await self._audit.write_durably(record)
            except AuditUnavailableError as refusal:
                self.record_refusal(visit, action, address, refusal, caller)
                await self._quotas.give_back(caller, entry)
                raise
        began = self._clock.monotonic()
        code: str | None = None
        result = "success"
        try:
            call = Call(caller, visit) if progress is None else Call(caller, visit, progress)
            call.can_follow = can_follow
            return await within(entry.timeout_seconds, work(call))
        except CarrelError as error:
            code, result = error.code, "failure"
            if isinstance(error, UnavailableError):
                error_id = str(error.details.setdefault("error_id", secrets.token_hex(8)))
                facts = _log_facts(error_id, entry, caller, visit)
                log.warning(
                    "call not answered",
                    extra={**facts, "code": code, "cause": describe_cause(error)},
                )
            raise
        except InputTooCostlyError as error:
            code, result = error.code, "failure"
            raise CostlyInputError(error) from error
        except TimeoutError:
            code, result = TimedOutError.code, "error"
            raise TimedOutError(
                f"No answer within {entry.timeout_seconds:g} seconds",
                next_step="Ask for less at once, or try again later.",
                details={"timeout_seconds": entry.timeout_seconds},
            ) from None
        except (asyncio.CancelledError, KeyboardInterrupt):
            code, result = "cancelled", "error"
            raise
        except Exception as error:
            result = "error"
            if isinstance(error, OSError) and isinstance(entry, Operation) and entry.is_local:
                # The operator may know which file it was and what the system says of it.
                code = "os_error"
                raise
            error_id = secrets.token_hex(8)
            log.exception("call failed", extra=_log_facts(error_id, entry, caller, visit))
            if (full := StorageFullError.of(error)) is not None:
                code = full.code
                full.details["error_id"] = error_id
                raise full from error
            code = InternalError.code
            raise InternalError(error_id) from error
        finally:
            spent = (self._clock.monotonic() - began) * 1000.0
            if self._observer is not None and (code or visit.mcp_request is None):
                self._observer.call_ended(entry, visit, code or result, spent / 1000.0)
            self._audit.write(
                self._record("ended", caller, visit, action, address, None, result, code, spent)
            )

    def _record(
        self,
        phase: str,
        caller: Caller,
        visit: Visit,
        action: str,
        resource: str,
        parameters: object,
        result: str,
        error_code: str | None,
        duration_ms: float | None,
    ) -> AuditRecord:
        return AuditRecord(
            self._clock.now(),
            visit.request_id,
            phase,
            f"{caller.user_id}:{visit.operator}" if visit.operator else caller.user_id,
            caller.client_id,
            visit.door,
            action,
            resource,
            parameters,
            result,
            error_code,
            None if duration_ms is None else round(duration_ms, 3),
            visit.address,
            visit.user_agent[:_LONGEST_USER_AGENT],
        )


def _log_facts(error_id: str, entry: Entry, caller: Caller, visit: Visit) -> dict[str, object]:
    """What every log line of a failed call names."""
    return {
        "error_id": error_id,
        "request_id": visit.request_id,
        "action": entry.action,
        "user": caller.user_id,
        "door": visit.door,
        "path": visit.path,
    }


def convert_integral_floats(
    arguments: Mapping[str, object], error: ValidationError
) -> Mapping[str, object]:
    """The arguments with 3.0 as 3 where an integer is expected, as JSON Schema allows."""
    mended: Any = copy.deepcopy(arguments)
    for problem in error.errors(include_url=False):
        value = problem["input"]
        if problem["type"] == "int_type" and isinstance(value, float) and value.is_integer():
            *way, last = problem["loc"]
            place = mended
            # The path of an error inside a union has the branch's name, which the arguments lack.
            with contextlib.suppress(KeyError, IndexError, TypeError):
                for step in way:
                    place = place[step]
                place[last] = int(value)
    return cast(Mapping[str, object], mended)


# Characters of the list of parameters in an error.
_NAMED_PARAMETERS_CHARACTERS = 400


def to_invalid_input_error(
    error: ValidationError, parameters: Sequence[str] = ()
) -> InvalidInputError:
    """A validation error in words: each field, its problem, and the limit it exceeds.

    `parameters` are named where one is given that does not exist.
    """
    problems = [
        {
            "field": ".".join(_readable_path(problem["loc"])) or "(whole)",
            "problem": _problem(dict(problem), parameters),
        }
        for problem in error.errors(include_url=False)
    ]
    message = "; ".join(
        problem["problem"]
        if problem["problem"].startswith(problem["field"]) or problem["field"] == "(whole)"
        else f"{problem['field']}: {problem['problem']}"
        for problem in problems[:5]
    )
    is_unknown = any(
        problem["type"] == "extra_forbidden" and len(problem["loc"]) == 1
        for problem in error.errors(include_url=False)
    )
    next_step = "Correct the named fields and call again."
    if is_unknown and parameters:
        next_step += f" It takes {_name_within(parameters, _NAMED_PARAMETERS_CHARACTERS)}."
    elif is_unknown:
        next_step += " It takes no parameters."
    return InvalidInputError(message, next_step=next_step, details={"errors": problems[:20]})


def _name_within(names: Sequence[str], room: int) -> str:
    """As many names as fit, with the number of those that do not."""
    shown: list[str] = []
    for name in names:
        room -= len(name) + 2
        if room < 0:
            break
        shown.append(name)
    left = len(names) - len(shown)
    return ", ".join(shown) + (f" and {left} more" if left else "")


# Of a name that a caller made up.
_SHOWN_FIELD_CHARACTERS = 100
_MEANS_REQUIRED = {"missing", "string_too_short", "too_short"}


# Of a value that a caller sent, which may be a whole text.
_SHOWN_VALUE_CHARACTERS = 60
# What pydantic calls the branches of a union.
_BRANCH = re.compile(r"constrained-str|str|int|list\[.*\]|dict\[.*\]|[A-Z]\w+")


def _readable_path(loc: Sequence[int | str]) -> list[str]:
    """The path of a problem without the names of a union's branches."""
    return [
        str(part)[:_SHOWN_FIELD_CHARACTERS]
        for at, part in enumerate(loc)
        if at == 0 or not (isinstance(part, str) and _BRANCH.fullmatch(part))
    ]


def _problem(problem: dict[str, Any], parameters: Sequence[str]) -> str:
    loc = problem["loc"]
    path = _readable_path(loc)
    field = path[-1] if path else "value"
    kind = problem["type"]
    is_absent = kind == "missing" or (problem.get("input", "") is None and len(loc) == 1)
    if is_absent or (kind in _MEANS_REQUIRED and problem.get("ctx", {}).get("min_length") == 1):
        return f"{field} is required"
    if kind == "extra_forbidden":
        near = near_names(field, parameters, most=1) if len(loc) == 1 else []
        meant = f"; did you mean {near[0]}?" if near else ""
        return f"{field} is not a parameter of this operation{meant}"
    if kind in {"value_error", "assertion_error"}:
        return str(problem.get("ctx", {}).get("error", problem["msg"]))
    text = str(problem["msg"])
    return text[:1].lower() + text[1:] + _given(problem.get("input"))


def _given(value: object) -> str:
    """What was sent, if it is short and plain."""
    if isinstance(value, bool | int | float):
        return f", not {str(value).lower() if isinstance(value, bool) else value}"
    if isinstance(value, str) and len(value) <= _SHOWN_VALUE_CHARACTERS and value.isprintable():
        return f", not {value!r}"
    return ""
