"""Settings: flags over environment over file over defaults, and errors that name their origin."""

from __future__ import annotations

import json
import operator
import os
import subprocess
import sys
from pathlib import Path

import pytest

from carrel.settings import SettingsError, read_settings
from carrel.settings.reading import known_settings
from carrel.wiring.desk import open_desk
from tests.processes import warm


def test_flags_win_over_environment_over_file(tmp_path: Path) -> None:
    file = tmp_path / "carrel.toml"
    file.write_text("[server]\nport = 1\nname = 'from file'\nworkers = 3\n", encoding="utf-8")
    environment = {"CARREL_SERVER_PORT": "2", "CARREL_SERVER_NAME": "from environment"}
    settings = read_settings(
        {("server", "port"): 3, ("server", "name"): None}, environment=environment, config=file
    )
    assert (settings.server.port, settings.server.name, settings.server.workers) == (
        3,
        "from environment",
        3,
    )
    assert settings.source == file


@pytest.mark.promise("D11")
def test_port_means_what_it_means_everywhere_and_ours_wins() -> None:
    assert read_settings(environment={"PORT": "9999"}).server.port == 9999
    assert (
        read_settings(environment={"PORT": "9999", "CARREL_SERVER_PORT": "1234"}).server.port
        == 1234
    )


def test_paths_in_the_file_are_relative_to_it(tmp_path: Path) -> None:
    file = tmp_path / "carrel.toml"
    file.write_text("[papers]\nsnapshot = 'corpus/paper_snapshot.db'\n", encoding="utf-8")
    assert (
        read_settings(environment={}, config=file).papers.snapshot
        == tmp_path / "corpus" / "paper_snapshot.db"
    )


def _places() -> list[tuple[str, ...]]:
    return [path for path, kind in known_settings().items() if kind.is_place]


@pytest.mark.parametrize("path", _places(), ids=".".join)
def test_every_folder_and_file_in_the_settings_file_is_relative_to_it(
    tmp_path: Path, path: tuple[str, ...]
) -> None:
    kind = known_settings()[path]
    value = "['near/place', '/far/place']" if kind.is_list else "'near/place'"
    section = f"[{'.'.join(path[:-1])}]\n" if path[:-1] else ""
    file = tmp_path / "carrel.toml"
    file.write_text(f"{section}{path[-1]} = {value}\n", encoding="utf-8")
    found = operator.attrgetter(".".join(path))(read_settings(environment={}, config=file))
    near = tmp_path / "near" / "place"
    assert found == (near, Path("/far/place")) if kind.is_list else Path(found) == near


def test_every_setting_that_holds_a_path_counts_as_a_place() -> None:
    assert {
        ("home",),
        ("papers", "static"),
        ("references", "allowed_folders"),
        ("audit", "file"),
    } <= set(_places())


def test_an_address_in_the_settings_file_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "carrel.toml"
    file.write_text("[papers]\nstatic = 'https://example.org/texts'\n", encoding="utf-8")
    assert read_settings(environment={}, config=file).papers.static == "https://example.org/texts"


def test_a_tilde_means_the_persons_folder_wherever_it_is_written() -> None:
    settings = read_settings(
        {("references", "library"): "~/l.json"}, environment={"CARREL_HOME": "~/desk"}
    )
    assert settings.home == Path.home() / "desk"
    assert settings.references.library == Path.home() / "l.json"


def test_a_misspelt_variable_is_named_with_the_nearest_real_one() -> None:
    environment = {
        "CARREL_SERVER_PROT": "1",
        "CARREL_ZZZZ": "1",
        "CARREL_CONFIG": "",
        "CARREL_TEST_X": "1",
        "PATH": "",
    }
    assert read_settings(environment=environment).unknown_variables == {
        "CARREL_SERVER_PROT": "CARREL_SERVER_PORT",
        "CARREL_ZZZZ": None,
    }


@pytest.mark.parametrize("command", [["doctor"], ["papers", "search", "x"], ["mcp"]])
def test_a_misspelt_variable_is_said_at_every_start(tmp_path: Path, command: list[str]) -> None:
    done = warm.run(
        [
            sys.executable,
            "-c",
            "import sys; from carrel.cli import main; sys.exit(main())",
            *command,
        ],
        env={**os.environ, "CARREL_HOME": str(tmp_path), "CARREL_REFERENCE_LIBRARY": "x.json"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "did you mean CARREL_REFERENCES_LIBRARY?" in done.stderr
    assert command != ["doctor"] or "Rename it to CARREL_REFERENCES_LIBRARY." in done.stdout


@pytest.mark.promise("Q3")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[server]\nport = 'eighty'\n", "server.port = 'eighty' from .*carrel.toml cannot be used"),
        ("[server]\nprot = 80\n", "sets server.prot, which is not a setting"),
        ("nonsense", "cannot be read"),
        ("rooms = ['kitchen']\n", "no room called kitchen"),
    ],
)
def test_a_bad_file_is_explained(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "carrel.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=message):
        read_settings(environment={}, config=file)


def test_a_bad_variable_names_the_environment() -> None:
    with pytest.raises(SettingsError, match="from the environment"):
        read_settings(environment={"CARREL_SERVER_WORKERS": "many"})


@pytest.mark.parametrize(
    "url", ["postgresql:/ada:geheim@127.0.0.1/x", "mysql://ada:geheim@x/y", "geheim"]
)
def test_what_is_no_address_of_a_database_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(SettingsError, match="no address of a postgresql") as refused:
        read_settings(environment={"DATABASE_URL": url})
    assert "geheim" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:geheim@db:5543x/desk",
        "postgresql://ada:geheim@db:0/desk",
        "postgresql://ada:geheim@db:70000/desk",
        "postgresql://ada:gehe#im/geheim@db/desk",
        "postgresql://ada:geh@eim@db:5432/desk",
        "postgresql://ada:geheim@one:5432,two:x/desk",
    ],
)
def test_an_address_whose_host_cannot_be_one_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(SettingsError, match=r"port|%40") as refused:
        read_settings(environment={"DATABASE_URL": url})
    assert "geh" not in str(refused.value)
    assert "ada" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgres://ada@db/desk",
        "host=db dbname=desk user=ada",
        "postgresql:///desk?host=/run/postgresql",
        "postgresql://ada:a%40b%2Fc@[::1]:5432/desk",
        "postgresql://one:5432,two/desk",
        "postgresql://%2Frun%2Fpostgresql/desk",
    ],
)
def test_both_forms_of_an_address_of_a_database_are_taken(url: str) -> None:
    assert read_settings(environment={"DATABASE_URL": url}).database.url == url


def test_a_settings_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no settings file"):
        read_settings(environment={}, config=tmp_path / "absent.toml")


def test_listening_to_the_world_without_authentication_is_refused(tmp_path: Path) -> None:
    settings = read_settings({("home",): tmp_path, ("server", "host"): "0.0.0.0"}, environment={})
    with pytest.raises(SettingsError, match=r"Refusing to listen on 0\.0\.0\.0") as refused:
        open_desk(settings)
    assert "auth.mode" in refused.value.next_step


@pytest.mark.parametrize("text", ["/a,/b c", " /a , /b c,", '["/a", "/b c"]', ' [ "/a","/b c" ] '])
def test_finding_13_a_list_in_a_variable_is_separated_by_commas_or_json(text: str) -> None:
    settings = read_settings(environment={"CARREL_PAPERS_ALLOWED_FOLDERS": text})
    assert settings.papers.allowed_folders == (Path("/a"), Path("/b c"))


@pytest.mark.parametrize("text", ["['/a']", "[1]", '["/a"', "[" * 100_000])
def test_finding_13_what_begins_like_a_json_list_and_is_none_is_refused(text: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read_settings(environment={"CARREL_PAPERS_ALLOWED_FOLDERS": text})
    assert "papers.allowed_folders in the environment" in refused.value.message
    assert len(refused.value.message) < 200


def test_finding_13_the_doctor_names_an_allowed_folder_that_does_not_exist(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    folders = f"{tmp_path / 'there'},{tmp_path / 'nowhere'}"
    done = warm.run(
        [
            sys.executable,
            "-c",
            "import sys; from carrel.cli import main; sys.exit(main())",
            "doctor",
            "--json",
        ],
        env={
            **os.environ,
            "CARREL_HOME": str(tmp_path / "home"),
            "CARREL_PAPERS_ALLOWED_FOLDERS": folders,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    findings = {each["name"]: each for each in json.loads(done.stdout)["findings"]}
    said = findings["papers.allowed_folders"]
    assert not said["is_well"]
    assert "nowhere" in said["says"]
    assert "there," not in said["says"]
