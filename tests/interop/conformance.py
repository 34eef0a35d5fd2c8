"""The official conformance suite against each server of ours, and what is expected to fail there.

A scenario counts as passed only when something in it was checked: some pass on a server that lacks
what they are about. `docs/conformance.md` is written from the findings.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
REVISIONS = ("2025-11-25", "2026-07-28")
ALWAYS_CHECKED = "wire-schema-valid"


@dataclass(frozen=True, slots=True)
class Target:
    """A server that is judged: its name in the table, and what it is."""

    name: str
    meaning: str


SHIPPED_DESK = Target("`/desk/mcp`", "`carrel serve` as a person starts it, the address it prints")
SHIPPED_COMMON = Target("`/mcp`", "the same server, tools and resources only by specification")
FIXTURES = Target("fixtures", "the same program with a room of the suite's own fixtures")
FASTMCP = Target("FastMCP", "the same fixtures served by FastMCP (the extra `fastmcp`)")
TARGETS = (SHIPPED_DESK, SHIPPED_COMMON, FIXTURES, FASTMCP)

# Why a scenario does not pass.
FIXTURE = "needs a fixture of the suite"
LOGGING = "logging is not offered"
PROMPTS = "no prompts here, by specification"
ONE_ANSWER = "one JSON answer carries no log messages"
BACK_CHANNEL = "no way to ask the client during a call"
SUBSCRIPTIONS = "subscriptions are not offered"
INPUT = "no call asks its caller for input"
STATELESS = "no sessions, so nothing to check"

_ASKING = {
    "tools-call-with-logging": ONE_ANSWER,
    "tools-call-sampling": BACK_CHANNEL,
    "tools-call-elicitation": BACK_CHANNEL,
    "elicitation-sep1034-defaults": BACK_CHANNEL,
    "elicitation-sep1330-enums": BACK_CHANNEL,
    "resources-subscribe": SUBSCRIPTIONS,
    "resources-unsubscribe": SUBSCRIPTIONS,
    "server-sse-multiple-streams": STATELESS,
    "server-session-lifecycle": STATELESS,
}
_INPUT_REQUIRED = {
    "server-stateless": INPUT,
    **{
        f"input-required-result-{name}": INPUT
        for name in (
            "basic-elicitation", "basic-sampling", "basic-list-roots", "request-state",
            "multiple-input-requests", "multi-round", "non-tool-request", "result-type",
            "tampered-state", "capability-check", "missing-input-response", "ignore-extra-params",
        )
    },
}  # fmt: skip
_FIXTURES = dict.fromkeys(
    (
        "completion-complete", "tools-call-simple-text", "tools-call-image", "tools-call-audio",
        "tools-call-embedded-resource", "tools-call-mixed-content", "tools-call-error",
        "tools-call-with-progress", "resources-read-text", "resources-read-binary",
        "resources-templates-read", "prompts-get-simple", "prompts-get-with-args",
        "prompts-get-embedded-resource", "prompts-get-with-image",
    ),
    FIXTURE,
)  # fmt: skip
_PROMPTS = {name: PROMPTS for name in _FIXTURES if name.startswith("prompts")}
_NO_PROMPTS = {**_FIXTURES, **_PROMPTS, "prompts-list": PROMPTS}
EXPECTED: dict[Target, dict[str, dict[str, str]]] = {
    SHIPPED_DESK: {
        "2025-11-25": {**_FIXTURES, **_ASKING, "logging-set-level": LOGGING},
        "2026-07-28": {**_FIXTURES, **_INPUT_REQUIRED},
    },
    SHIPPED_COMMON: {
        "2025-11-25": {**_NO_PROMPTS, **_ASKING, "logging-set-level": LOGGING},
        "2026-07-28": {**_NO_PROMPTS, **_INPUT_REQUIRED, "caching": PROMPTS},
    },
    FIXTURES: {
        "2025-11-25": {**_ASKING, "logging-set-level": LOGGING},
        "2026-07-28": _INPUT_REQUIRED,
    },
    FASTMCP: {"2025-11-25": _ASKING, "2026-07-28": _INPUT_REQUIRED},
}
# Scenarios of the tasks extension, run against the fixtures.
TASKS = (
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """How one scenario went at one server."""

    scenario: str
    is_as_expected: bool
    says: str
    has_passed: bool


class Suite:
    """Runs the suite with a given Node."""

    def __init__(self, node: Path, script: Path, out: Path) -> None:
        self._command = [str(node), str(script)]
        self._out = out

    def scored(self, revision: str) -> list[str]:
        """The server scenarios that count for a revision."""
        listed = self._run("list", "--requirements", revision).split("Server scenarios")[1]
        return [
            line.strip()[2:]
            for line in listed.split("\n\n")[0].splitlines()
            if line.startswith("  - ")
        ]

    def judge(self, target: Target, url: str, revision: str) -> Iterator[Finding]:
        """Every scored scenario of a revision at one address."""
        out = self._out / f"{TARGETS.index(target)}-{revision}"
        self._run("server", "--url", url, "--requirements", revision, "-o", str(out))
        expected = EXPECTED[target][revision]
        for scenario in self.scored(revision):
            failed, succeeded = _checks(out, scenario)
            yield _finding(scenario, failed, succeeded, expected.get(scenario))

    def tasks(self, url: str, revision: str) -> Iterator[Finding]:
        """The scenarios of the tasks extension, against the fixtures."""
        out = self._out / f"tasks-{revision}"
        for scenario in TASKS:
            options = ("--spec-version", revision, "--force", "--scenario", scenario)
            self._run("server", "--url", url, *options, "-o", str(out))
            failed, succeeded = _checks(out, scenario)
            yield _finding(scenario, failed, succeeded, None)

    def _run(self, *words: str) -> str:
        return subprocess.run(
            [*self._command, *words], capture_output=True, text=True, timeout=600, check=False
        ).stdout


def _checks(out: Path, scenario: str) -> tuple[dict[str, str], set[str]]:
    """The checks of a scenario that failed, with what they said, and those that succeeded."""
    (folder,) = (
        found
        for found in out.glob(f"server-{scenario}-*")
        if found.name[len(f"server-{scenario}-") :][:4].isdigit()
    )
    checks = orjson.loads((folder / "checks.json").read_bytes())
    failed = {
        check["id"]: str(check.get("errorMessage", ""))
        for check in checks
        if check["status"] == "FAILURE"
    }
    succeeded = {check["id"] for check in checks if check["status"] == "SUCCESS"}
    return failed, succeeded - {ALWAYS_CHECKED}


def _finding(
    scenario: str, failed: Mapping[str, str], succeeded: set[str], reason: str | None
) -> Finding:
    """Compares with what is expected: a reason why the scenario does not pass, or None."""
    has_passed = not failed and bool(succeeded)
    if reason is not None:
        return Finding(scenario, not has_passed, reason if not has_passed else "passes", has_passed)
    if failed:
        return Finding(scenario, False, json.dumps(failed), False)
    if not succeeded:
        return Finding(scenario, False, "nothing was checked", False)
    return Finding(scenario, True, f"{len(succeeded)} checks", True)


def conformance_page(
    found: Mapping[tuple[Target, str], Sequence[Finding]], tasks: Iterable[Finding], on: str
) -> str:
    """`docs/conformance.md`: the figures of every server side by side, with reasons."""
    tasks = list(tasks)
    lines = [
        "# Conformance",
        "",
        f"Written by `make interop` on {on} with `{SUITE}`; every scenario that the suite scores"
        " for a server is run at every server.",
        "A scenario passes here only when a check in it succeeded and none failed.",
        "",
        "| server | what it is | " + " | ".join(REVISIONS) + " |",
        "|---|---|" + "---|" * len(REVISIONS),
    ]
    for target in TARGETS:
        sums = [
            f"{sum(each.has_passed for each in found[target, revision])} of"
            f" {len(found[target, revision])}"
            for revision in REVISIONS
        ]
        lines.append(f"| {target.name} | {target.meaning} | " + " | ".join(sums) + " |")
    passed = sum(each.has_passed for each in tasks)
    lines += ["", f"Tasks extension, fixtures: {passed} of {len(tasks)} scenarios pass."]
    for revision in REVISIONS:
        lines += [
            "",
            f"## {revision}",
            "",
            "| scenario | " + " | ".join(target.name for target in TARGETS) + " |",
            "|---|" + "---|" * len(TARGETS),
        ]
        rows = zip(*(found[target, revision] for target in TARGETS), strict=True)
        lines += [
            f"| {row[0].scenario} | "
            + " | ".join("passes" if each.has_passed else each.says for each in row)
            + " |"
            for row in rows
        ]
    return "\n".join(lines) + "\n"
