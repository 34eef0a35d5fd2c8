"""Settings: flags over environment over file over defaults, and errors that name their origin."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.settings import SettingsError, read_settings
from carrel.wiring.desk import open_desk


def test_flags_win_over_environment_over_file(tmp_path: Path) -> None:
    file = tmp_path / "carrel.toml"
    file.write_text("[server]\nport = 1\nname = 'from file'\nworkers = 3\n", encoding="utf-8")
    environment = {"CARREL_SERVER_PORT": "2", "CARREL_SERVER_NAME": "from environment"}
    settings = read_settings({("server", "port"): 3, ("server", "name"): None}, environment=environment, config=file)
    assert (settings.server.port, settings.server.name, settings.server.workers) == (3, "from environment", 3)
    assert settings.source == file


@pytest.mark.promise("D11")
def test_port_means_what_it_means_everywhere_and_ours_wins() -> None:
    assert read_settings(environment={"PORT": "9999"}).server.port == 9999
    assert read_settings(environment={"PORT": "9999", "CARREL_SERVER_PORT": "1234"}).server.port == 1234


def test_paths_in_the_file_are_relative_to_it(tmp_path: Path) -> None:
    file = tmp_path / "carrel.toml"
    file.write_text("[papers]\nsnapshot = 'corpus/paper_snapshot.db'\n", encoding="utf-8")
    assert read_settings(environment={}, config=file).papers.snapshot == tmp_path / "corpus" / "paper_snapshot.db"


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


def test_a_settings_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no settings file"):
        read_settings(environment={}, config=tmp_path / "absent.toml")


def test_listening_to_the_world_without_authentication_is_refused(tmp_path: Path) -> None:
    settings = read_settings({("home",): tmp_path, ("server", "host"): "0.0.0.0"}, environment={})
    with pytest.raises(SettingsError, match=r"Refusing to listen on 0\.0\.0\.0") as refused:
        open_desk(settings)
    assert "auth.mode" in refused.value.next_step
