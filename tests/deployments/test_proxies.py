"""nginx and Caddy in front of the service: the files of `deployments/` are run as they are written.

Changed are the address to listen at, the certificate and the port of the server behind, nothing
else. Debian's packages `nginx-light` and `caddy` are needed; without one its tests are skipped.
"""

from __future__ import annotations

import http.server
import json
import os
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.access.test_uploads import PDF
from tests.deployments.units import ROOT, await_answer, free_port, service_running

pytestmark = pytest.mark.timeout(400)

CALLER = "127.0.0.2"
PIECE_BYTES = 4 * 1024 * 1024
NGINX, CADDY = ROOT / "deployments" / "nginx", ROOT / "deployments" / "caddy"


@dataclass(frozen=True)
class Proxy:
    """A file, the program that runs it and the address at which people find the desk."""

    file: Path
    program: str
    public_url: str

    @property
    def name(self) -> str:
        return self.public_url.split("/")[2]

    @property
    def prefix(self) -> str:
        return self.public_url.partition(self.name)[2]


PROXIES = [
    Proxy(NGINX / "carrel.conf", "nginx", "https://desk.example.org"),
    Proxy(NGINX / "carrel-prefix.conf", "nginx", "https://lab.example.org/carrel"),
    Proxy(CADDY / "Caddyfile", "caddy", "https://desk.example.org"),
    Proxy(CADDY / "Caddyfile.prefix", "caddy", "https://lab.example.org/carrel"),
]


@pytest.fixture(params=PROXIES, ids=lambda proxy: f"{proxy.program}-{proxy.file.name}")
def proxy(request: pytest.FixtureRequest) -> Proxy:
    found: Proxy = request.param
    if find_program(found.program) is None:
        pytest.skip(f"{found.program} is not installed")
    return found


def find_program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


@contextmanager
def proxy_running(proxy: Proxy, folder: Path, *behind: int) -> Iterator[httpx2.Client]:
    """Someone at another address who asks the desk, or its replicas, through the proxy."""
    port = free_port()
    certificate = make_certificate(folder, proxy.name)
    if proxy.program == "nginx":
        command, environment = nginx_command(proxy, folder, port, behind, certificate), None
    else:
        command, environment = caddy_command(proxy, folder, port, behind)
    with (folder / "proxy.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    try:
        await_port(port, process, folder)
        with client_of(proxy, port) as client:
            yield client
    finally:
        process.terminate()
        process.wait(timeout=30)


def nginx_command(
    proxy: Proxy, folder: Path, port: int, behind: Sequence[int], certificate: Path
) -> list[str]:
    text = proxy.file.read_text(encoding="utf-8")
    plain = free_port()
    for written, here in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("/etc/ssl/desk.pem", f"{certificate}.pem"),
        ("/etc/ssl/desk.key", f"{certificate}.key"),
        ("server 127.0.0.1:8080", f"server 127.0.0.1:{behind[0]}"),
        ("server 127.0.0.1:8081", f"server 127.0.0.1:{behind[-1]}"),
    ):
        assert text.count(written) <= 1
        text = text.replace(written, here)
    (folder / "site.conf").write_text(text)
    places = "".join(
        f"{kind}_temp_path {folder}/{kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1;\n"
        f"events {{}}\nhttp {{ access_log off; {places} include {folder}/site.conf; }}\n"
    )
    program = str(find_program("nginx"))
    user = ["-g", "user root;"] if os.geteuid() == 0 else []
    return [program, "-p", str(folder), "-c", str(folder / "nginx.conf"), *user]


def caddy_command(
    proxy: Proxy, folder: Path, port: int, behind: Sequence[int]
) -> tuple[list[str], dict[str, str]]:
    """The file is imported as it stands; only its certificate comes from Caddy's own authority."""
    wrapper = folder / "Caddyfile"
    wrapper.write_text(
        f"{{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n\thttp_port {free_port()}\n"
        f"\thttps_port {port}\n\tauto_https disable_redirects\n}}\nimport {proxy.file}\n"
    )
    environment = {
        **os.environ,
        "CARREL_ADDRESS": f"127.0.0.1:{behind[0]}",
        "CARREL_SECOND_ADDRESS": f"127.0.0.1:{behind[-1]}",
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
    program = str(find_program("caddy"))
    return [program, "run", "--adapter", "caddyfile", "--config", str(wrapper)], environment


@contextmanager
def caddy_running(file: Path, folder: Path, port: int, settings: dict[str, str]) -> Iterator[None]:
    """Caddy with a file as it stands and the variables that it takes."""
    wrapper = folder / "Caddyfile"
    wrapper.write_text(f"{{\n\tadmin off\n\tauto_https off\n}}\nimport {file}\n")
    environment = {
        "PATH": os.environ["PATH"],
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        **settings,
    }
    command = [str(find_program("caddy")), "run", "--adapter", "caddyfile", "--config"]
    with (folder / "proxy.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, str(wrapper)], stdout=log, stderr=log, env=environment
        )
    try:
        await_port(port, process, folder)
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


def make_certificate(folder: Path, name: str) -> Path:
    place = folder / "certificate"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout",
         f"{place}.key", "-out", f"{place}.pem", "-subj", f"/CN={name}"],
        check=True, capture_output=True,
    )  # fmt: skip
    return place


def await_port(port: int, process: subprocess.Popen[bytes], folder: Path) -> None:
    try:
        await_answer(f"http://127.0.0.1:{port}/", {})
    except AssertionError:
        raise AssertionError((folder / "proxy.log").read_text()) from None
    assert process.poll() is None, (folder / "proxy.log").read_text()


def client_of(proxy: Proxy, port: int) -> httpx2.Client:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE

    def name_host(request: httpx2.Request) -> None:
        request.extensions = {**request.extensions, "sni_hostname": proxy.name}

    return httpx2.Client(
        base_url=f"https://127.0.0.1:{port}",
        headers={"Host": proxy.name},
        transport=httpx2.HTTPTransport(verify=context, local_address=CALLER),
        event_hooks={"request": [name_host]},
        timeout=60,
    )


def make_token(places: dict[str, str], *scopes: str) -> dict[str, str]:
    done = subprocess.run(
        [places["/opt/carrel/bin/carrel"], "tokens", "create", "t", "--scopes", ",".join(scopes)],
        env={"PATH": os.environ["PATH"], "CARREL_HOME": places["/var/lib/carrel"]},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {"Authorization": f"Bearer {done.stdout.strip()}"}


def call(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def test_a_desk_behind_a_proxy_does_all_it_does_alone(proxy: Proxy, tmp_path: Path) -> None:
    with service_running(tmp_path, proxy.public_url) as (port, places):
        token = make_token(places, "papers:read", "papers:write", "references:read")
        (tmp_path / "proxy").mkdir()
        with proxy_running(proxy, tmp_path / "proxy", port) as client:
            check_calls(client, proxy.prefix, token)
            check_upload(client, proxy.prefix, token)
            check_metadata(client, proxy)
            check_refusals(client, proxy, token)
        lines = (Path(places["/var/lib/carrel"]) / "audit" / "audit.jsonl").read_text().splitlines()
        asked = [json.loads(line) for line in lines if "tool:list_references" in line]
        assert asked
        assert {row["ip_address"] for row in asked} == {CALLER}


def check_calls(client: httpx2.Client, prefix: str, token: dict[str, str]) -> None:
    accept = {"Accept": "application/json, text/event-stream"}
    # Who claims to be another is not believed.
    claims = {"X-Forwarded-For": "6.6.6.6", "X-Forwarded-Host": "evil.example"}
    listed = client.post(
        f"{prefix}/desk/mcp", json=call("tools/list", {}), headers={**token, **accept}
    )
    assert listed.status_code == 200, listed.text
    names = {tool["name"] for tool in listed.json()["result"]["tools"]}
    assert "search_papers" in names
    params = {"name": "list_references", "arguments": {}}
    headers = {**token, **accept, **claims}
    answer = client.post(f"{prefix}/desk/mcp", json=call("tools/call", params), headers=headers)
    assert "isError" not in answer.json()["result"] or not answer.json()["result"]["isError"]


def check_upload(client: httpx2.Client, prefix: str, token: dict[str, str]) -> None:
    content = PDF + b"\n% " + b"x" * (20 * 1024 * 1024 - len(PDF) - 3)
    facts = {"name": "big.pdf", "size": len(content)}
    begun = client.post(f"{prefix}/uploads", json=facts, headers=token)
    assert begun.status_code == 201, begun.text
    place = begun.headers["location"]
    assert place == f"{prefix}/uploads/{begun.json()['upload_id']}"
    kind = {"content-type": "application/offset+octet-stream"}
    for offset in range(0, len(content), PIECE_BYTES):
        piece = content[offset : offset + PIECE_BYTES]
        headers = {**token, **kind, "upload-offset": str(offset)}
        sent = client.patch(place, content=piece, headers=headers)
        assert sent.status_code == 200, sent.text
    assert sent.json()["is_complete"] is True
    params = {
        "name": "add_paper",
        "arguments": {"upload_id": begun.json()["upload_id"]},
        "_meta": {"progressToken": "p"},
    }
    accept = {"Accept": "application/json, text/event-stream"}
    with client.stream(
        "POST", f"{prefix}/desk/mcp", json=call("tools/call", params), headers={**token, **accept}
    ) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = [json.loads(line[5:]) for line in answer.iter_lines() if line.startswith("data:")]
    assert events[0]["method"] == "notifications/progress"
    assert events[-1]["result"]["structuredContent"]["is_new"] is True
    too_much = client.patch(
        place, content=b"x" * (6 * 1024 * 1024), headers={**token, **kind, "upload-offset": "0"}
    )
    # Caddy finds out while it already hands the piece on.
    assert too_much.status_code in {413, 502}


def check_metadata(client: httpx2.Client, proxy: Proxy) -> None:
    stranger = client.post(f"{proxy.prefix}/desk/mcp", json=call("tools/list", {}))
    assert stranger.status_code == 401
    named = stranger.headers["www-authenticate"].partition('resource_metadata="')[2].split('"')[0]
    assert named.startswith(f"https://{proxy.name}/.well-known/")
    resource = client.get(named.partition(proxy.name)[2]).json()
    assert resource["resource"] == f"{proxy.public_url}/desk/mcp"
    (issuer,) = resource["authorization_servers"]
    assert issuer.rstrip("/") == proxy.public_url
    place = f"/.well-known/oauth-authorization-server{proxy.prefix}"
    server = client.get(place).json()
    for endpoint in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        assert server[endpoint].startswith(f"{proxy.public_url}/")
    keys = client.get(server["jwks_uri"].partition(proxy.name)[2])
    assert keys.json()["keys"]
    page = client.get(server["authorization_endpoint"].partition(proxy.name)[2])
    assert page.status_code == 400, "the log-in page is reached and wants to know for whom"


def check_refusals(client: httpx2.Client, proxy: Proxy, token: dict[str, str]) -> None:
    assert "search_papers" in client.get(f"{proxy.prefix}/mcp/tools", headers=token).text
    wrong = client.get(f"{proxy.prefix}/mcp/tools", headers={**token, "Host": "evil.example"})
    assert "search_papers" not in wrong.text
    if proxy.program == "nginx":
        assert wrong.status_code == 421


class _HeldStream(http.server.BaseHTTPRequestHandler):
    """Sends one event, and the next only when the first has arrived."""

    has_arrived = threading.Event()
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(b"data: first\n\n")
        self.wfile.flush()
        if self.has_arrived.wait(60):
            self.wfile.write(b"data: second\n\n")

    def log_message(self, *arguments: object) -> None:
        pass


def test_events_pass_at_once_and_a_silent_stream_is_kept(proxy: Proxy, tmp_path: Path) -> None:
    _HeldStream.has_arrived.clear()
    behind = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _HeldStream)
    thread = threading.Thread(target=behind.serve_forever, daemon=True)
    thread.start()
    try:
        with proxy_running(proxy, tmp_path, behind.server_port) as client:
            seen: list[str] = []
            with client.stream("GET", f"{proxy.prefix}/desk/mcp") as answer:
                for line in answer.iter_lines():
                    if line:
                        seen.append(line)
                        _HeldStream.has_arrived.set()
            assert seen == ["data: first", "data: second"]
    finally:
        behind.shutdown()
        behind.server_close()
