"""The pages and files an operator relies on say what the code does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from carrel.cli.access_table import scope_table, with_table
from carrel.rooms import room_names
from carrel.settings import AuditSettings, Settings, read_settings
from carrel.settings.network_rules import refuse_open_server
from carrel.wiring.desk import open_desk

ROOT = Path(__file__).parents[2]


@pytest.mark.promise("A2")
def test_the_scope_table_is_what_the_catalogue_says(tmp_path: Path) -> None:
    rooms = room_names()
    desk = open_desk(Settings(home=tmp_path, rooms=rooms, audit=AuditSettings(enabled=False)))
    page = (ROOT / "docs" / "access.md").read_text(encoding="utf-8")
    assert with_table(page, scope_table(desk.catalogue)) == page, "run make docs"


def _documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((ROOT / "deployments" / name).read_text(encoding="utf-8")))


def _starts_with(environment: dict[str, str]) -> Settings:
    """The settings a container would start with; raises where it would refuse."""
    settings = read_settings(environment=environment)
    refuse_open_server(settings)
    return settings


@pytest.mark.promise("K4")
def test_the_container_starts_guarded_on_all_addresses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    environment = dict(re.findall(r"(CARREL_\w+)=(\S+)", text))
    settings = _starts_with({**environment, "PORT": "9090"})
    assert (settings.server.host, settings.server.port, settings.auth.mode) == (
        "0.0.0.0",
        9090,
        "builtin",
    )
    assert settings.base_url == "http://localhost:9090"


@pytest.mark.promise("K4")
def test_the_deployments_name_settings_that_exist(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    by_kind = {document["kind"]: document for document in _documents("mcp-server.yaml")}
    config, deployment, service = by_kind["ConfigMap"], by_kind["Deployment"], by_kind["Service"]
    settings = _starts_with({**config["data"], "DATABASE_URL": "postgresql://x"})
    assert settings.database.url == "postgresql://x"
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert (
        container["livenessProbe"]["httpGet"]["path"],
        container["readinessProbe"]["httpGet"]["path"],
    ) == (
        "/health",
        "/ready",
    )
    assert container["env"][0]["valueFrom"]["secretKeyRef"] == {
        "name": "db-credentials",
        "key": "connection-string",
    }
    assert deployment["spec"]["replicas"] == 3
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]
    (cloudrun,) = _documents("cloudrun/service.yaml")
    plain = {
        row["name"]: row["value"]
        for row in cloudrun["spec"]["template"]["spec"]["containers"][0]["env"]
        if "value" in row
    }
    assert _starts_with({**plain, "PORT": "8080"}).auth.mode == "cloudrun"
    for text in (str(config["data"]), str(plain)):
        known = {"CARREL_" + "_".join(path).upper() for path in _paths()}
        assert set(re.findall(r"CARREL_\w+", text)) <= known


def _paths() -> list[tuple[str, ...]]:
    from carrel.settings.reading import known_settings

    return list(known_settings())
