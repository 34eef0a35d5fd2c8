"""`carrel users`, `carrel tokens` and `carrel audit` as an operator uses them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from carrel.cli import main
from carrel.policy.identity import PREFIX


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


@pytest.mark.promise("A3")
def test_users_are_made_listed_disabled_and_given_new_passwords(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(monkeypatch, "short\n")
    assert main(["users", "add", "ada"]) == 2
    assert "at least 10" in capsys.readouterr().err
    typed(monkeypatch, "a long enough password\n")
    assert main(["users", "add", "ada"]) == 0
    assert main(["users", "add", "ada", "--generate"]) == 6
    assert main(["users", "add", "bad name", "--generate"]) == 2
    assert main(["users", "add", "bob", "--scopes", "papers:read,nonsense", "--generate"]) == 2
    assert "nonsense" in capsys.readouterr().err
    assert main(["users", "add", "root", "--admin", "--generate"]) == 0
    password = capsys.readouterr().out.strip()
    assert len(password) == 23
    assert main(["users", "disable", "ada"]) == 0
    assert main(["users", "disable", "nobody"]) == 3
    assert main(["users", "reset-password", "root", "--generate"]) == 0
    assert capsys.readouterr().out.strip().splitlines()[-1] != password
    assert main(["users", "list"]) == 0
    shown = capsys.readouterr().out
    assert "ada\tdisabled" in shown
    assert "root\tactive" in shown
    kept = b"".join(file.read_bytes() for file in home.rglob("*") if file.is_file())
    assert b"a long enough password" not in kept
    assert b"$argon2id$" in kept


@pytest.mark.promise("A3")
def test_tokens_are_shown_once_listed_and_revoked(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tokens", "create", "ci", "--scopes", "papers:read knowledge:write"]) == 0
    secret = capsys.readouterr().out.strip()
    assert secret.startswith(PREFIX)
    assert main(["tokens", "create", "ci", "--scopes", "papers:read"]) == 6
    assert main(["tokens", "create", "x", "--scopes", "nothing"]) == 2
    assert main(["tokens", "create", "x", "--scopes", "admin", "--days", "0"]) == 2
    assert main(["tokens", "create", "x", "--scopes", "admin", "--user", "nobody"]) == 3
    capsys.readouterr()
    assert main(["tokens", "list"]) == 0
    shown = capsys.readouterr().out
    assert "ci\tactive" in shown
    assert secret not in shown
    assert main(["tokens", "revoke", "ci"]) == 0
    assert main(["tokens", "revoke", "ci"]) == 3
    assert main(["tokens", "list"]) == 0
    assert "ci\trevoked" in capsys.readouterr().out


@pytest.mark.promise("A2")
def test_a_token_of_a_user_is_refused_what_the_user_lacks(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["users", "add", "ben", "--generate", "--scopes", "papers:write"]) == 0
    capsys.readouterr()
    beyond = "papers:read,papers:write,research:write,admin"
    assert main(["tokens", "create", "p3", "--user", "ben", "--scopes", beyond]) == 2
    said = capsys.readouterr()
    assert not said.out
    assert "ben may not do admin, research:write, so no token" in said.err
    assert main(["tokens", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    # What is implied is held, and a token without a user is not concerned.
    assert main(["tokens", "create", "p1", "--user", "ben", "--scopes", "papers:read"]) == 0
    assert main(["tokens", "create", "p2", "--scopes", beyond]) == 0


@pytest.mark.promise("A5")
def test_the_audit_log_is_listed_exported_and_a_removed_line_shows(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two", "=three"):
        assert main(["tokens", "create", name, "--scopes", "papers:read"]) == 0
    capsys.readouterr()
    assert main(["audit", "list", "--action", "tokens:"]) == 0
    assert capsys.readouterr().out.count("tokens:create") == 6, "the start and the end of each"
    assert main(["audit", "list", "--action", "tokens:", "--limit", "1"]) == 0
    assert "=three" not in capsys.readouterr().out, (
        "the name is in the resource, which the short list leaves out"
    )
    assert main(["audit", "export", "--action", "tokens:", "--since", "2020-01-01"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["resource"] for row in rows if row["phase"] == "started"] == [
        "token:one",
        "token:two",
        "token:=three",
    ]
    assert [row["result"] for row in rows if row["phase"] == "ended"] == ["success"] * 3
    assert main(["audit", "export", "--format", "csv", "--since", "2999"]) == 0
    assert capsys.readouterr().out.startswith("timestamp,phase,user_id")
    assert main(["audit", "verify"]) == 0
    assert "12 lines in 3 chains: whole" in capsys.readouterr().out
    file = home / "audit" / "audit.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:5] + lines[6:]))
    assert main(["audit", "verify"]) == 1
    assert "is missing" in capsys.readouterr().out


@pytest.mark.promise("A3")
def test_the_first_credential_is_made_once(home: Path) -> None:
    import asyncio

    from carrel.core.clock import SystemClock
    from carrel.policy.authorization.login import FIRST_USER, add_first_user
    from carrel.settings import read_settings
    from carrel.wiring.access import open_access_store

    async def add_twice() -> tuple[str | None, str | None, list[str]]:
        store = open_access_store(read_settings({("auth", "mode"): "builtin"}))
        try:
            first = await add_first_user(store, SystemClock())
            second = await add_first_user(store, SystemClock())
            return first, second, [user.name for user in await store.users()]
        finally:
            await store.close()

    password, second, names = asyncio.run(add_twice())
    assert password
    assert second is None
    assert names == [FIRST_USER] == ["admin"]


def test_a_token_for_a_user_may_do_no_more_than_the_user(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["users", "add", "ben", "--scopes", "papers:read", "--generate"]) == 0
    assert main(["tokens", "create", "ok", "--scopes", "papers:read", "--user", "ben"]) == 0
    capsys.readouterr()
    assert main(["tokens", "create", "more", "--scopes", "admin", "--user", "ben"]) == 2
    assert "ben may not do admin, so no token for ben may" in capsys.readouterr().err
    assert main(["users", "add", "root", "--admin", "--generate"]) == 0
    assert main(["tokens", "create", "all", "--scopes", "papers:write", "--user", "root"]) == 0
