"""The official conformance suite: which scenarios are run where, and what is expected to fail
there, with the reason.

A scenario counts as passed only when something in it was checked. Its own count is not enough: some
scenarios pass on a
server that lacks what they are about.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

JSON_ONLY = "a JSON answer cannot carry notifications while a call runs"
NO_BACK_CHANNEL = "a stateless JSON wire has no way to ask the client while a call runs"
NO_SUBSCRIPTIONS = "subscriptions are not offered, and not advertised"
NEEDS_FIXTURE = "needs a fixture tool; proved at /fixtures/mcp"
NO_PROMPTS = "/mcp has tools and resources only, by specification"
NO_LOGGING = "/mcp offers no logging, by specification"
STATELESS = "nothing to check without sessions"

Failures = Mapping[str, str]

FIXTURE_FAILURES: dict[str, dict[str, str]] = {
    "2025-11-25": {
        "tools-call-with-logging": JSON_ONLY,
        "tools-call-sampling": NO_BACK_CHANNEL,
        "tools-call-elicitation": NO_BACK_CHANNEL,
        "elicitation-sep1034-defaults": NO_BACK_CHANNEL,
        "elicitation-sep1330-enums": NO_BACK_CHANNEL,
        "resources-subscribe": NO_SUBSCRIPTIONS,
        "resources-unsubscribe": NO_SUBSCRIPTIONS,
    },
    "2026-07-28": {},
}
NOTHING_TO_CHECK: dict[str, dict[str, str]] = {
    "2025-11-25": {"server-sse-multiple-streams": STATELESS, "server-session-lifecycle": STATELESS},
    "2026-07-28": {},
}
# Scenarios that any server can be judged by, and the single checks in them that the shipped server
# fails or cannot show.
SHIPPED: dict[str, dict[str, Failures]] = {
    "2025-11-25": {
        "server-initialize": {},
        "ping": {},
        "tools-list": {},
        "resources-list": {},
        "dns-rebinding-protection": {},
        "server-sse-multiple-streams": {},
        "server-session-lifecycle": {},
        "logging-set-level": {"logging-set-level": NO_LOGGING},
        "prompts-list": {"prompts-list": NO_PROMPTS},
    },
    "2026-07-28": {
        "server-stateless": {
            "sep-2575-server-rejects-undeclared-capability": NEEDS_FIXTURE,
            "sep-2575-missing-capability-http-400": NEEDS_FIXTURE,
            "sep-2575-http-server-no-independent-requests-on-stream": NEEDS_FIXTURE,
            "sep-2575-server-no-log-without-loglevel": NEEDS_FIXTURE,
        },
        "tools-list": {},
        "resources-list": {},
        "sep-2164-resource-not-found": {},
        "caching": {"sep-2549-prompts-list-caching-hints": NO_PROMPTS},
        "http-header-validation": {},
        "dns-rebinding-protection": {},
        "server-sse-multiple-streams": {},
        "input-required-result-unsupported-methods": {},
        "prompts-list": {"prompts-list": NO_PROMPTS},
    },
}
# Scenarios of the tasks extension, against the fixtures, and the single checks that fail there.
TASKS: dict[str, Failures] = {
    "tasks-lifecycle": {},
    "tasks-capability-negotiation": {},
    "tasks-wire-fields": {},
    "tasks-request-state-removal": {},
    "tasks-request-headers": {},
    "tasks-dispatch-and-envelope": {},
}
ALWAYS_CHECKED = "wire-schema-valid"


@dataclass(frozen=True, slots=True)
class Finding:
    """How one scenario went."""

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

    def fixtures(self, url: str, revision: str) -> Iterator[Finding]:
        """Every scored scenario against the fixtures."""
        out = self._out / f"fixtures-{revision}"
        self._run("server", "--url", url, "--requirements", revision, "-o", str(out))
        expected = FIXTURE_FAILURES[revision]
        for scenario in self.scored(revision):
            failed, succeeded = _checks(out, scenario)
            reason = expected.get(scenario)
            yield _finding(
                scenario,
                failed,
                succeeded,
                dict.fromkeys(failed, reason) if reason else {},
                revision,
            )

    def shipped(self, url: str, revision: str) -> Iterator[Finding]:
        """The scenarios that need no fixtures, against the server as it is."""
        out = self._out / f"shipped-{revision}"
        for scenario, expected in SHIPPED[revision].items():
            self._run(
                "server",
                "--url",
                url,
                "--spec-version",
                revision,
                "--scenario",
                scenario,
                "-o",
                str(out),
            )
            failed, succeeded = _checks(out, scenario)
            yield _finding(scenario, failed, succeeded, expected, revision)

    def tasks(self, url: str, revision: str) -> Iterator[Finding]:
        """The scenarios of the tasks extension, against the fixtures."""
        out = self._out / f"tasks-{revision}"
        for scenario, expected in TASKS.items():
            self._run(
                "server",
                "--url",
                url,
                "--spec-version",
                revision,
                "--force",
                "--scenario",
                scenario,
                "-o",
                str(out),
            )
            failed, succeeded = _checks(out, scenario)
            yield _finding(scenario, failed, succeeded, expected, revision)

    def _run(self, *words: str) -> str:
        return subprocess.run(
            [*self._command, *words], capture_output=True, text=True, timeout=300, check=False
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
    return failed, {check["id"] for check in checks if check["status"] == "SUCCESS"} - {
        ALWAYS_CHECKED
    }


def _finding(
    scenario: str, failed: Failures, succeeded: set[str], expected: Failures, revision: str
) -> Finding:
    surprising = {check: says for check, says in failed.items() if check not in expected}
    stale = [check for check in expected if check not in failed]
    if surprising:
        return Finding(scenario, False, json.dumps(surprising), False)
    if stale:
        return Finding(scenario, False, f"expected to fail and did not: {', '.join(stale)}", True)
    if failed:
        return Finding(
            scenario, True, f"fails as expected: {'; '.join(sorted(set(expected.values())))}", False
        )
    nothing = NOTHING_TO_CHECK[revision].get(scenario)
    if not succeeded and nothing is None:
        return Finding(scenario, False, "passed without checking anything", False)
    if succeeded and nothing is not None:
        return Finding(scenario, True, f"{len(succeeded)} checks", True)
    return Finding(scenario, True, nothing or f"{len(succeeded)} checks", True)
