"""What the settings say of a home that does not last, of a stream as audit log, and of names behind
a platform.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import CarrelError, NotConfiguredError
from carrel.core.operation import Effect
from carrel.policy.origin import Authority
from carrel.settings import Settings, SettingsError, read_settings
from carrel.settings.access_rules import refuse_lost_accounts
from carrel.settings.network_rules import origin_policy
from carrel.settings.places import audit_store
from carrel.stores.audit_queue import PartlyWrittenError
from carrel.stores.json_lines.audit import StreamSink
from carrel.wiring.audit import open_audit, open_audit_reader
from carrel.wiring.desk import open_desk
from carrel.wiring.home import unserved_files
from tests.cli.test_cli import carrel
from tests.processes import warm
from tests.stores.small_disk import small_disk

DATABASE = "postgresql://carrel@127.0.0.1:1/none"


@pytest.mark.promise("Q7")
@pytest.mark.parametrize(
    ("environment", "store", "keeps_home", "audit"),
    [
        ({}, "sqlite", True, "file"),
        ({"DATABASE_URL": DATABASE}, "postgres", False, "postgres"),
        (
            {"DATABASE_URL": DATABASE, "CARREL_SERVER_HOME_IS_PERSISTENT": "true"},
            "postgres",
            True,
            "postgres",
        ),
        (
            {"DATABASE_URL": DATABASE, "CARREL_KNOWLEDGE_STORE": "sqlite"},
            "sqlite",
            False,
            "postgres",
        ),
        ({"CARREL_KNOWLEDGE_STORE": "firestore"}, "firestore", True, "file"),
        ({"GOOGLE_CLOUD_PROJECT": "of-another-program"}, "sqlite", True, "file"),
        ({"K_SERVICE": "carrel"}, "sqlite", False, "stdout"),
        (
            {"K_SERVICE": "carrel", "CARREL_SERVER_HOME_IS_PERSISTENT": "true"},
            "sqlite",
            True,
            "file",
        ),
        ({"CARREL_SERVER_HOME_IS_PERSISTENT": "false"}, "sqlite", False, "stdout"),
        ({"CARREL_SERVER_REPLICAS": "1"}, "sqlite", True, "file"),
        ({"CARREL_SERVER_REPLICAS": "2"}, "sqlite", False, "stdout"),
        (
            {"CARREL_SERVER_REPLICAS": "2", "CARREL_SERVER_HOME_IS_PERSISTENT": "true"},
            "sqlite",
            True,
            "file",
        ),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "sqlite", True, "file"),
        (
            {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "CARREL_SERVER_HOST": "0.0.0.0"},
            "sqlite",
            False,
            "stdout",
        ),
        (
            {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "CARREL_SERVER_REPLICAS": "3"},
            "sqlite",
            False,
            "stdout",
        ),
        (
            {"K_SERVICE": "carrel", "CARREL_AUDIT_FILE": "/logs/audit.jsonl"},
            "sqlite",
            False,
            "file",
        ),
    ],
)
def test_where_things_are_kept_follows_the_settings(
    environment: dict[str, str], store: str, keeps_home: bool, audit: str
) -> None:
    settings = read_settings(environment=environment)
    assert (settings.knowledge_store, settings.keeps_home, audit_store(settings)) == (
        store,
        keeps_home,
        audit,
    )


def test_a_file_that_declares_the_home_persistent_wins_over_what_the_platform_suggests(
    tmp_path: Path,
) -> None:
    file = tmp_path / "carrel.toml"
    file.write_text("[server]\nhome_is_persistent = true\n", encoding="utf-8")
    assert read_settings(environment={"K_SERVICE": "carrel"}, config=file).keeps_home


@pytest.mark.promise("Q7")
@pytest.mark.parametrize("mode", ["builtin", "tokens"])
def test_accounts_are_not_kept_where_files_do_not_last(mode: str) -> None:
    base = {
        "K_SERVICE": "carrel",
        "CARREL_AUTH_MODE": mode,
        "CARREL_SERVER_PUBLIC_URL": "https://desk.example.org",
    }
    with pytest.raises(SettingsError, match="does not last"):
        refuse_lost_accounts(read_settings(environment=base))
    refuse_lost_accounts(read_settings(environment={**base, "DATABASE_URL": DATABASE}))


@pytest.mark.promise("Q7")
def test_notes_in_a_file_are_not_hidden_by_a_database(tmp_path: Path) -> None:
    assert (
        carrel(tmp_path, "knowledge", "save", "of great value", "--title", "First note").returncode
        == 0
    )
    refused = carrel(tmp_path, "knowledge", "search", "First", DATABASE_URL=DATABASE)
    assert refused.returncode == 2
    assert "knowledge.sqlite" in refused.stderr and "CARREL_KNOWLEDGE_STORE" in refused.stderr
    examined = carrel(tmp_path, "doctor", "--json", DATABASE_URL=DATABASE)
    (finding,) = [
        each for each in json.loads(examined.stdout)["findings"] if each["name"] == "rooms"
    ]
    assert not finding["is_well"] and "knowledge.store" in finding["action"]


@pytest.mark.promise("Q7")
def test_an_empty_file_of_notes_is_no_reason_to_refuse_a_database(tmp_path: Path) -> None:
    assert carrel(tmp_path, "knowledge", "search", "nothing").returncode == 0
    assert (tmp_path / "knowledge.sqlite").exists()
    refused = carrel(tmp_path, "knowledge", "search", "nothing", DATABASE_URL=DATABASE)
    assert refused.returncode == 5 and "PostgreSQL" in refused.stderr, refused.stderr


def test_tokens_in_a_file_are_named_when_a_database_hides_them(tmp_path: Path) -> None:
    assert (
        carrel(
            tmp_path, "tokens", "create", "ci", "--scopes", "papers:read", CARREL_AUTH_MODE="tokens"
        ).returncode
        == 0
    )
    settings = Settings.model_validate(
        {"home": tmp_path, "auth": {"mode": "tokens"}, "database": {"url": DATABASE}}
    )
    assert unserved_files(settings) == {"users and tokens": str(tmp_path / "access.sqlite")}
    assert unserved_files(settings.model_copy(update={"database": Settings().database})) == {}


@pytest.mark.promise("Q1")
@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"DATABASE_URL": DATABASE},
        {
            "CARREL_PAPERS_SNAPSHOT": "/nowhere/at/all.db",
            "CARREL_AUDIT_FILE": "/proc/none/audit.jsonl",
        },
        {"CARREL_KNOWLEDGE_STORE": "postgres", "CARREL_SERVER_PROT": "1"},
        {"K_SERVICE": "carrel"},
    ],
)
def test_the_doctor_says_what_to_do_about_every_finding_and_never_to_ask_the_doctor(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    done = carrel(tmp_path, "doctor", "--json", **environment)
    report = json.loads(done.stdout)
    missing = [finding for finding in report["findings"] if not finding["is_well"]]
    assert done.returncode == (1 if missing else 0) and report["is_well"] is not bool(missing)
    for finding in missing:
        assert finding["action"] and "carrel doctor" not in finding["action"], finding
    if "K_SERVICE" in environment:
        unserved = [each for each in report["findings"] if "not served" in each["says"]]
        assert {each["name"] for each in unserved} == {"references", "knowledge", "research"}
        assert all("home_is_persistent" in each["action"] for each in unserved)


@pytest.mark.promise("D6")
@pytest.mark.promise("A5")
def test_an_audit_log_on_standard_output_stays_out_of_what_commands_print(tmp_path: Path) -> None:
    stream = {"CARREL_AUDIT_STORE": "stdout"}
    saved = carrel(tmp_path, "knowledge", "save", "text", "--title", "T", "--json", **stream)
    assert json.loads(saved.stdout)["id"]
    recorded = [json.loads(line) for line in saved.stderr.splitlines() if line.startswith("{")]
    assert "tool:save_knowledge" in {record["action"] for record in recorded}
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    spoken = warm.run(
        [sys.executable, "-c", "import sys; from carrel.cli import main; sys.exit(main())", "mcp"],
        input=ping,
        env={**os.environ, **stream, "CARREL_HOME": str(tmp_path)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert [json.loads(line)["id"] for line in spoken.stdout.splitlines()] == [1]
    assert not (tmp_path / "audit").exists()


def test_several_processes_do_not_mix_their_lines_in_one_stream(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {"home": tmp_path, "audit": {"store": "stdout"}, "server": {"workers": 2}}
    )
    with pytest.raises(SettingsError, match="workers = 1"):
        open_audit(settings)


def test_a_log_that_went_to_a_stream_is_not_called_empty(tmp_path: Path) -> None:
    settings = Settings.model_validate({"home": tmp_path, "audit": {"store": "stdout"}})
    with pytest.raises(NotConfiguredError, match="standard output"):
        open_audit_reader(settings).lines()


def test_a_stream_that_takes_a_part_gets_the_rest_of_the_line_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = bytearray()
    answers: list[int | OSError] = [3, OSError("full"), 100, 100, OSError("full"), 100]
    takes = iter(answers)

    def write(descriptor: int, text: bytes) -> int:
        most = next(takes)
        if isinstance(most, OSError):
            raise most
        written.extend(text[:most])
        return min(most, len(text))

    monkeypatch.setattr("carrel.stores.json_lines.audit.os.write", write)
    sink = StreamSink(1)
    with pytest.raises(PartlyWrittenError) as begun:
        sink.append([b"first", b"second"])
    assert begun.value.lines_written == 1, "a line that has begun is never written twice"
    sink.append([b"second"])
    with pytest.raises(PartlyWrittenError) as refused:
        sink.append([b"third"])
    assert refused.value.lines_written == 0
    sink.append([b"third"])
    assert bytes(written) == b"first\nsecond\nthird\n"


@pytest.mark.promise("K4")
@pytest.mark.promise("D5")
def test_names_behind_cloud_run_are_answered_and_elsewhere_only_those_that_are_named() -> None:
    def accepts(host: str, mode: str, **server: object) -> bool:
        settings = Settings.model_validate(
            {"auth": {"mode": mode}, "server": {"host": "0.0.0.0", **server}}
        )
        return origin_policy(settings).accepts_host(Authority.parse(host))

    assert accepts("carrel-4f2kq7wzja-ew.a.run.app", "cloudrun")
    assert accepts("desk.example.org", "cloudrun", public_url="https://other.example.org")
    assert not accepts("other.example.org", "cloudrun", allowed_hosts=("desk.example.org",))
    for mode in ("builtin", "tokens", "jwt"):
        assert not accepts("carrel-4f2kq7wzja-ew.a.run.app", mode)
        assert accepts("desk.example.org", mode, public_url="https://desk.example.org")


@pytest.mark.promise("Q7")
def test_everything_that_would_only_be_in_a_passing_home_is_refused_at_every_operation(
    tmp_path: Path,
) -> None:
    settings = Settings.model_validate(
        {"home": tmp_path, "server": {"home_is_persistent": False}, "audit": {"enabled": False}}
    )

    nothing: Any = None

    async def visit() -> set[str]:
        desk = open_desk(settings)
        served = set()
        async with desk.session():
            for operation in desk.catalogue.operations.values():
                if operation.effect is Effect.READS or operation.room == "jobs":
                    continue
                try:
                    # What is asked does not matter: a refusal comes before anything looks at it.
                    await operation.run(nothing, nothing)
                except CarrelError as error:
                    assert error.code == "home_not_persistent", operation.name
                except (AttributeError, TypeError):
                    served.add(operation.name)
        return served

    # find_fulltext writes only with add_to_corpus, which the papers room then refuses.
    assert asyncio.run(visit()) <= {"cancel_job", "run_operation", "find_fulltext"}
    assert not any(
        file.suffix in {".sqlite", ".db", ".json"} for file in tmp_path.rglob("*") if file.is_file()
    )


@pytest.mark.promise("Q7")
@pytest.mark.parametrize("command", [("history",), ("restore", "--version", "1")])
def test_the_past_of_a_library_is_not_looked_for_in_a_passing_home(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    done = carrel(tmp_path, "references", *command, CARREL_SERVER_HOME_IS_PERSISTENT="false")
    assert done.returncode == 5
    assert "server.home_is_persistent" in done.stderr


@pytest.mark.promise("Q7")
def test_papers_are_built_elsewhere_and_not_in_a_passing_home(tmp_path: Path) -> None:
    (tmp_path / "paper.md").write_text("# Ice\n\nIt melts.\n", encoding="utf-8")
    passing = {"CARREL_SERVER_HOME_IS_PERSISTENT": "false"}
    home = tmp_path / "home"
    home.mkdir()
    refused = carrel(home, "papers", "build", "../paper.md", **passing)
    assert refused.returncode == 5
    assert "server.home_is_persistent" in refused.stderr
    assert not list(home.rglob("*.db"))
    assert (
        carrel(home, "papers", "build", "../paper.md", "--into", "../own", **passing).returncode
        == 0
    )


def test_a_demonstration_on_a_full_disk_says_what_to_do(tmp_path: Path) -> None:
    home = tmp_path / "small" / "home"
    with small_disk(home.parent, "300k"):
        home.mkdir()
        done = carrel(
            home,
            "serve",
            "--demo",
            "--port",
            "0",
            CARREL_AUDIT_ENABLED="false",
        )
    assert done.returncode == 5
    assert "The disk is full" in done.stderr
    assert "Free some space there" in done.stderr
    assert "Traceback" not in done.stderr
