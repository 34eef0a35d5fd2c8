"""`carrel serve` as the container runs it: several workers, a first credential, and a log-in with
it.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from carrel.policy.audit_verification import verify
from carrel.stores.json_lines.audit import read_lines
from tests.access.serving import sign_in_and_allow
from tests.access.support import REDIRECT, Pkce, answer_in, authorize_url, bearer
from tests.processes import warm

SOURCE = str(Path(__file__).parents[2] / "src")
COMMAND = [
    sys.executable,
    "-c",
    "import sys; from carrel.cli import main; sys.exit(main(sys.argv[1:]))",
]


@contextmanager
def carrel_serve(home: Path, **environment: str) -> Iterator[tuple[str, str]]:
    """The address of a running server, and everything it had said when it began to serve."""
    base = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CARREL_", "DATABASE_URL", "PORT"))
    }
    process = warm.start(
        [*COMMAND, "serve", "--port", "0", "--workers", "2"],
        env={
            **base,
            "PYTHONPATH": SOURCE,
            "CARREL_HOME": str(home),
            "CARREL_ROOMS": "",
            **environment,
        },
        cwd=home,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if "Cursor:" in line:
            break
    try:
        found = re.search(r"at (http://\S+) \(MCP", said)
        assert found is not None, said
        yield found.group(1), said
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode in {0, -signal.SIGTERM}


@pytest.mark.promise("A3")
@pytest.mark.promise("K4")
def test_the_container_prints_a_credential_once_and_every_worker_knows_who_logged_in(
    tmp_path: Path,
) -> None:
    environment = {"CARREL_AUTH_MODE": "builtin", "CARREL_SERVER_HOST": "0.0.0.0"}
    with carrel_serve(tmp_path, **environment) as (url, said):
        found = re.search(r"log in as (\w+) with the password (\S+)", said)
        assert found is not None
        name, password = found.groups()
        with httpx2.Client(
            base_url=url, transport=httpx2.HTTPTransport(retries=8), timeout=30
        ) as http:
            client_id = http.post(
                "/register", json={"client_name": "x", "redirect_uris": [REDIRECT]}
            ).json()["client_id"]
            pkce = Pkce()
            address = url + authorize_url(client_id, pkce, resource=f"{url}/mcp", scope="admin")
            code = answer_in(sign_in_and_allow(address, name, password))["code"]
            form = {
                "grant_type": "authorization_code",
                "code": code,
                "code_verifier": pkce.verifier,
                "client_id": client_id,
            }
            token = http.post("/token", data=form).json()["access_token"]
        for _ in range(12):
            answer = httpx2.get(f"{url}/mcp/tools", headers=bearer(token))
            assert answer.status_code == 200, answer.text
        assert httpx2.get(f"{url}/mcp/tools").status_code == 401
    with carrel_serve(tmp_path, **environment) as (_, said):
        assert "First run" not in said
    audit = verify(read_lines(tmp_path / "audit" / "audit.jsonl"))
    assert (audit.problems, audit.open_ends) == ([], [])


@pytest.mark.promise("A1")
def test_an_open_server_does_not_start_and_says_what_to_set(tmp_path: Path) -> None:
    base = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CARREL_", "DATABASE_URL", "PORT"))
    }
    done = warm.run(
        [*COMMAND, "serve", "--host", "0.0.0.0", "--port", "0"],
        env={**base, "PYTHONPATH": SOURCE, "CARREL_HOME": str(tmp_path), "CARREL_ROOMS": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "Refusing to listen on 0.0.0.0" in done.stderr
    assert "CARREL_AUTH_MODE" in done.stderr
