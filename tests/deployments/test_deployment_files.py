"""Every deployment file is started exactly as written: save, kill, start again, read back.

What stands in for a platform: a real PostgreSQL, Google's Firestore emulator, folders for volumes,
and a port for each container
in place of its own network. Each start is printed (`pytest -s`, or the report of a failure).
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import http.client
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.settings import read_settings
from carrel.settings.network_rules import stop_delay_seconds
from tests.deployments.containers import (
    Answer,
    Instance,
    Machine,
    first_password,
    free_port,
    wait_until,
)
from tests.deployments.manifests import (
    CLOUD_RUN,
    CLOUD_RUN_KNOWLEDGE,
    COMPOSE,
    KUBERNETES,
    ROOT,
    ContainerStart,
    cloud_run_start,
    compose_start,
    image_start,
    kubernetes_start,
    of_kind,
    read_compose,
    read_dockerfile,
)
from tests.deployments.test_proxies import CADDY, caddy_running, find_program

# Under load a start takes a while, and three of these start several processes.
pytestmark = pytest.mark.timeout(400)

POD = "10.4.2.17:8080"
PUBLIC = "desk.example.org"
RUN_APP = "carrel-knowledge-4f2kq7wzja-ew.a.run.app"
NOT_PERSISTENT = "home_not_persistent"
MOST_TRIES = 200


def invoke(instance: Instance, host: str, token: str, tool: str, **params: object) -> Answer:
    body = {"tool_name": tool, "params": params}
    return instance.request("POST", "/mcp/invoke", host, body, {"Authorization": f"Bearer {token}"})


def answer_of(found: Answer) -> str:
    """The body of an answer that is good, as text to look into."""
    status, body = found
    assert status == 200, body
    return json.dumps(body)


def await_probes(instance: Instance, start: ContainerStart, host: str) -> None:
    """Asks as the platform does: at the address of the container, with the headers that the file
    names.
    """
    for probe in start.probes:
        assert probe.port in {None, *start.ports}, (
            f"{start.source}: the {probe.kind} asks at a port that nothing listens on"
        )
        status, body = wait_until(
            instance, probe.path, probe.headers.get("Host", host), probe.headers
        )
        print(
            f"{start.source}: {probe.kind} GET {probe.path} (Host: {host}) answered {status} "
            f"{json.dumps(body)}"
        )


def platform_token() -> str:
    """An identity token as Cloud Run hands it on: checked, and without its signature."""
    claims = {
        "sub": "1",
        "email": "ada@example.org",
        "email_verified": True,
        "exp": int(time.time()) + 3600,
    }
    parts = (json.dumps(part).encode() for part in ({"alg": "RS256"}, claims))
    header, body = (base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)
    return f"{header}.{body}.SIGNATURE_REMOVED_BY_GOOGLE"


def bibtex(key: str) -> str:
    return (
        f"@article{{{key}, author={{Author, {key.title()}}}, title={{A study of {key}}}, "
        f"journal={{J}}, year={{2020}}}}"
    )


@pytest.mark.promise("Q7")
def test_the_image_keeps_its_volume_and_its_health_check_honours_the_port(machine: Machine) -> None:
    start, image = image_start(), read_dockerfile()
    disks = {
        image.volume: machine.disk("volume", start.user),
        "/tmp": machine.disk("tmp", start.user),
    }
    token = machine.run(
        start, ["carrel", "tokens", "create", "ada", "--scopes", "admin"], disks=disks, secrets={}
    ).strip()
    first = machine.start(start, disks=disks, secrets={}, platform={})
    _, ready = wait_until(first, "/ready", "localhost")
    assert ready["checks"]["papers"] == {"ok": True, "note": "empty"}
    assert first_password(first.errors()) is not None
    answer_of(
        invoke(
            first, "localhost", token, "save_knowledge", title="Kept in the volume", content="text"
        )
    )
    answer_of(invoke(first, "localhost", token, "add_references", input=bibtex("volume")))
    first.end(signal.SIGKILL)
    again = machine.start(start, disks=disks, secrets={}, platform={})
    wait_until(again, "/ready", "localhost")
    if "CARREL_TEST_IMAGE_TOOL" not in os.environ:
        argv, settings = machine._wheel(
            image.health_check, {**image.environment, "PORT": str(again.port)}, disks, start.user
        )
        assert subprocess.run(argv, check=False, **settings).returncode == 0, (
            "HEALTHCHECK finds the server at PORT"
        )
    assert "Kept in the volume" in answer_of(
        invoke(again, "localhost", token, "search_knowledge", query="Kept")
    )
    assert "A study of volume" in answer_of(invoke(again, "localhost", token, "list_references"))


@pytest.mark.promise("Q7")
def test_three_replicas_on_one_claim_and_one_database_lose_nothing_when_one_is_killed(
    machine: Machine, postgres_url: str
) -> None:
    start = kubernetes_start()
    secrets = {"DATABASE_URL": postgres_url}
    home = machine.disk("claim", start.user)
    assert set(start.mounts) == {"/data", "/tmp"} and len(start.claims) == 1

    def disks(number: int) -> dict[str, Path]:
        return {"/data": home, "/tmp": machine.disk(f"tmp-{number}", start.user)}

    def begin(number: int) -> Instance:
        return machine.start(
            start,
            disks=disks(number),
            secrets=secrets,
            platform={"KUBERNETES_SERVICE_HOST": "10.0.0.1"},
        )

    replicas = [begin(number) for number in range(start.replicas)]
    for replica in replicas:
        await_probes(replica, start, POD)
    assert sum(first_password(replica.errors()) is not None for replica in replicas) == 1, (
        "one administrator, told once"
    )
    tokens = {
        name: machine.run(
            start,
            ["carrel", "tokens", "create", name, "--scopes", "admin"],
            disks=disks(0),
            secrets=secrets,
        ).strip()
        for name in ("ada", "ben", "cleo")
    }
    assert invoke(replicas[0], "elsewhere.example", tokens["ada"], "list_references")[0] == 421, (
        "other names stay refused"
    )

    def write(replica: Instance, number: int) -> list[tuple[str, Callable[[], Answer]]]:
        return [
            *(
                (f"A study of r{number}{each}", lambda each=each: invoke(
                    replica, PUBLIC, tokens["ada"], "add_references",
                    input=bibtex(f"r{number}{each}")
                ))
                for each in "ab"
            ),
            (f"Note {number}", lambda: invoke(replica, PUBLIC, tokens["cleo"], "save_knowledge", title=f"Note {number}", content="x")),  # noqa: E501
        ]  # fmt: skip

    writes = [
        (number, *each)
        for number, replica in enumerate(replicas)
        for each in write(replica, number)
    ]
    for number in (0, 2):
        text = (
            f"---\ntitle: Paper {number} about quarks\nauthors: [Ann Author]\nyear: "
            f"2021\n---\n\n# Paper {number}\n\nQuarks.\n"
        )
        replica = replicas[number]
        writes.append(
            (number, f"Paper {number} about quarks", lambda replica=replica, text=text: invoke(  # type: ignore[misc]
                replica, PUBLIC, tokens["ben"], "add_paper", markdown=text
            ))
        )  # fmt: skip
    acknowledged = _all_at_once(writes, lambda: replicas[1].end(signal.SIGKILL))
    assert {name for number, name, _ in writes if number != 1} <= acknowledged, (
        "nobody else fails when one is killed"
    )
    replicas[1] = begin(1)
    await_probes(replicas[1], start, POD)
    for replica in replicas:
        seen = answer_of(invoke(replica, PUBLIC, tokens["ada"], "list_references"))
        seen += answer_of(invoke(replica, PUBLIC, tokens["cleo"], "search_knowledge", query="Note"))
        seen += answer_of(invoke(replica, PUBLIC, tokens["cleo"], "search_papers", query="quarks"))
        assert [name for name in acknowledged if name not in seen] == []
    print(
        f"{start.source}: {len(acknowledged)} writes were acknowledged while a replica was "
        f"killed; all are there at each replica"
    )
    kept = {
        file.name
        for file in home.rglob("*")
        if file.is_file()
        and "references" not in file.parts
        and file.suffix in {".sqlite", ".jsonl"}
    }
    assert kept == set(), (
        "notes, accounts and audit are in PostgreSQL; the index is in each pod's own folder"
    )


def _ask_until_answered(call: Callable[[], Answer]) -> str:
    """What a client that asks again gets in the end."""
    for _ in range(MOST_TRIES):
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
            status, body = call()
            if status == 200:
                return json.dumps(body)
    raise AssertionError("the proxy found no replica that answers")


def _all_at_once(
    writes: list[tuple[int, str, Callable[[], Answer]]], kill: Callable[[], None]
) -> set[str]:
    """Runs all writes at the same time, kills one replica when the first is done, and answers what
    was acknowledged.
    """
    acknowledged: set[str] = set()
    refused: list[object] = []
    one_is_done = threading.Event()
    together = threading.Barrier(len(writes))

    def run(number: int, name: str, call: Callable[[], Answer]) -> None:
        together.wait()
        try:
            status, body = call()
        except (OSError, ValueError) as error:
            # The connection of a killed server breaks; whether it had written is unknown, so
            # nothing is expected of it.
            if number != 1:
                refused.append(error)
        else:
            if status == 200:
                acknowledged.add(name)
            else:
                refused.append(body)
        finally:
            one_is_done.set()

    threads = [threading.Thread(target=run, args=write) for write in writes]
    for thread in threads:
        thread.start()
    one_is_done.wait()
    kill()
    for thread in threads:
        thread.join()
    assert refused == []
    return acknowledged


@pytest.mark.promise("Q7")
def test_the_replicas_of_the_compose_file_answer_through_its_proxy_when_one_is_killed(
    machine: Machine, postgres_url: str
) -> None:
    if find_program("caddy") is None:
        pytest.skip("caddy is not installed")
    services = read_compose({"CARREL_DATABASE_PASSWORD": "of-the-test"})
    database, proxy = services["database"]["environment"], services["proxy"]
    names = [name for name in services if name.startswith("carrel-")]
    said = "postgresql://{POSTGRES_USER}:{POSTGRES_PASSWORD}@database/{POSTGRES_DB}".format(
        **database
    )
    starts = {name: compose_start(name, services[name]) for name in names}
    assert {start.environment["DATABASE_URL"] for start in starts.values()} == {said}
    # The database of the file is a server here, and the proxy reaches us from this machine.
    here = {"DATABASE_URL": postgres_url, "CARREL_SERVER_TRUSTED_PROXIES": "127.0.0.1"}
    starts = {
        name: dataclasses.replace(start, environment={**start.environment, **here})
        for name, start in starts.items()
    }
    home = machine.disk("home", starts[names[0]].user)

    def disks(name: str) -> dict[str, Path]:
        return {"/data": home, "/tmp": machine.disk(f"tmp-{name}", starts[names[0]].user)}

    replicas = {
        name: machine.start(start, disks=disks(name), secrets={}, platform={})
        for name, start in starts.items()
    }
    for replica in replicas.values():
        wait_until(replica, "/ready", "localhost:8080")
    words = ["carrel", "tokens", "create", "ada", "--scopes", "admin"]
    token = machine.run(starts[names[0]], words, disks=disks("exec"), secrets={}).strip()
    mounted = {each.split(":")[1]: each.split(":")[0] for each in proxy["volumes"]}
    assert COMPOSE.parent / mounted["/etc/caddy/Caddyfile"] == CADDY / "Caddyfile.replicas"
    addresses = {f"{name}:8080": f"127.0.0.1:{replicas[name].port}" for name in names}
    port = free_port()
    settings = {
        name: {":8080": f":{port}", **addresses}[value]
        for name, value in proxy["environment"].items()
    }
    with caddy_running(CADDY / "Caddyfile.replicas", machine.folder, port, settings):
        through = dataclasses.replace(replicas[names[0]], port=port)
        headers = ("localhost:8080", token)
        answer_of(invoke(through, *headers, "save_knowledge", title="Kept", content="text"))
        answer_of(invoke(through, *headers, "add_references", input=bibtex("compose")))
        replicas[names[0]].end(signal.SIGKILL)
        # A request on a connection that the kill broke gets 502; the proxy's next check ends that.
        seen = _ask_until_answered(lambda: invoke(through, *headers, "list_references"))
        assert "A study of compose" in seen
        seen = _ask_until_answered(
            lambda: invoke(through, *headers, "search_knowledge", query="Kept")
        )
        assert "Kept" in seen


@pytest.mark.promise("Q7")
@pytest.mark.promise("K4")
def test_cloud_run_beside_postgresql_keeps_notes_and_refuses_what_it_cannot_keep(
    machine: Machine, postgres_url: str
) -> None:
    start = cloud_run_start(CLOUD_RUN)
    secrets, token = {"DATABASE_URL": postgres_url}, platform_token()

    def new_instance(number: int) -> Instance:
        # A new instance has an empty file system.
        disks = {
            "/tmp": machine.disk(f"memory-{number}", start.user),
            "/data": machine.disk(f"data-{number}", start.user),
        }
        instance = machine.start(start, disks=disks, secrets=secrets, platform={})
        await_probes(instance, start, RUN_APP)
        return instance

    first = new_instance(1)
    assert first.request("POST", "/mcp/invoke", RUN_APP, {"tool_name": "list_references"})[0] == 401
    status, refusal = invoke(first, RUN_APP, token, "add_paper", markdown="# T\n\ntext")
    assert (
        status == 503
        and NOT_PERSISTENT in json.dumps(refusal)
        and "server.home_is_persistent" in json.dumps(refusal)
    ), refusal
    _, ready = wait_until(first, "/ready", RUN_APP)
    print(ready)
    answer_of(invoke(first, RUN_APP, token, "add_references", input=bibtex("kept")))
    answer_of(
        invoke(first, RUN_APP, token, "save_knowledge", title="Kept in PostgreSQL", content="text")
    )
    answer_of(invoke(first, "desk.example.org", token, "search_knowledge", query="Kept"))
    first.end(signal.SIGKILL)
    again = new_instance(2)
    assert "Kept in PostgreSQL" in answer_of(
        invoke(again, RUN_APP, token, "search_knowledge", query="Kept")
    )
    assert "A study of kept" in answer_of(invoke(again, RUN_APP, token, "list_references"))
    again.end(signal.SIGTERM)
    assert again.process.returncode in {0, -signal.SIGTERM}, (
        "SIGTERM drains, and ends the process by the same signal"
    )


@pytest.mark.promise("Q7")
@pytest.mark.promise("K4")
@pytest.mark.promise("A5")
def test_cloud_run_with_firestore_alone_keeps_notes_and_audits_to_standard_output(
    machine: Machine, emulator: str
) -> None:
    start, token = cloud_run_start(CLOUD_RUN_KNOWLEDGE), platform_token()
    assert start.secrets == {} and "DATABASE_URL" not in start.environment

    def new_instance(number: int) -> tuple[Instance, Path]:
        memory = machine.disk(f"memory-{number}", start.user)
        instance = machine.start(
            start,
            disks={"/tmp": memory},
            secrets={},
            platform={"FIRESTORE_EMULATOR_HOST": emulator},
        )
        await_probes(instance, start, RUN_APP)
        return instance, memory / "carrel"

    first, home = new_instance(1)
    _, ready = wait_until(first, "/ready", RUN_APP)
    assert ready["checks"] == {
        "knowledge": {"ok": True},
        "audit": {"ok": True, "note": "on_standard_output"},
        "limits": {"ok": True, "note": "per_instance"},
    }
    assert json.dumps(ready) in (ROOT / "docs" / "deploying.md").read_text(encoding="utf-8")
    answer_of(
        invoke(first, RUN_APP, token, "save_knowledge", title="Kept in Firestore", content="text")
    )
    answer_of(invoke(first, "notes.example.org", token, "search_knowledge", query="Kept"))
    records = [json.loads(line) for line in first.output().splitlines()]
    saved = [record for record in records if record["action"] == "tool:save_knowledge"]
    assert [(record["phase"], record["user_id"]) for record in saved][:1] == [
        ("started", "ada@example.org")
    ]
    only_here = {
        file.name
        for file in home.rglob("*")
        if file.is_file()
        and not file.name.startswith((".", "search.sqlite"))
        and not file.is_relative_to(home / "cache" / "notes")
    }
    assert only_here == set(), "an instance keeps nothing but an index that is made again"
    first.end(signal.SIGKILL)
    again, _ = new_instance(2)
    assert "Kept in Firestore" in answer_of(
        invoke(again, RUN_APP, token, "search_knowledge", query="Kept")
    )


@pytest.mark.promise("Q7")
@pytest.mark.parametrize(
    "file", [KUBERNETES, CLOUD_RUN, CLOUD_RUN_KNOWLEDGE, COMPOSE], ids=lambda file: file.name
)
def test_the_commands_at_the_head_of_a_file_are_those_of_the_documentation(file: Path) -> None:
    commands = [
        line[1:].strip()
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("#   ")
    ]
    documented = (ROOT / "docs" / "deploying.md").read_text(encoding="utf-8").splitlines()
    assert commands
    assert [command for command in commands if command not in documented] == []


@pytest.mark.promise("Q7")
def test_the_kubernetes_file_has_what_the_specification_asks_for() -> None:
    service, deployment = of_kind(KUBERNETES, "Service"), of_kind(KUBERNETES, "Deployment")
    (port,) = service["spec"]["ports"]
    assert (service["spec"]["type"], port["port"], port["targetPort"], port["protocol"]) == (
        "LoadBalancer",
        443,
        8080,
        "TCP",
    )
    assert (
        service["spec"]["selector"].items()
        <= deployment["spec"]["template"]["metadata"]["labels"].items()
    )
    start = kubernetes_start()
    assert (start.replicas, start.ports) == (3, (8080,))
    assert start.secrets == {"DATABASE_URL": ("db-credentials", "connection-string")}
    claim = of_kind(KUBERNETES, "PersistentVolumeClaim")
    assert start.claims == (claim["metadata"]["name"],)
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
    assert start.environment["CARREL_SERVER_HOME_IS_PERSISTENT"] == "true"
    assert start.user == int(read_dockerfile().user) != 0


@pytest.mark.promise("Q7")
def test_on_cloud_run_work_goes_on_between_requests_and_stopping_fits_its_ten_seconds() -> None:
    service = of_kind(CLOUD_RUN, "Service")
    notes = service["spec"]["template"]["metadata"]["annotations"]
    assert notes["run.googleapis.com/cpu-throttling"] == "false"
    (container,) = service["spec"]["template"]["spec"]["containers"]
    told = {each["name"]: each["value"] for each in container["env"] if "value" in each}
    for mode in ("cloudrun", "builtin"):
        environment = {**told, "K_SERVICE": "carrel", "CARREL_AUTH_MODE": mode}
        environment["CARREL_SERVER_PUBLIC_URL"] = "https://desk.example.org"
        settings = read_settings(environment=environment)
        assert stop_delay_seconds(settings) + settings.server.drain_seconds < 10


@pytest.mark.promise("Q7")
def test_the_kubernetes_file_bounds_disruption_growth_and_traffic_of_its_own_pods() -> None:
    deployment = of_kind(KUBERNETES, "Deployment")
    labels = deployment["spec"]["selector"]["matchLabels"]
    budget = of_kind(KUBERNETES, "PodDisruptionBudget")["spec"]
    assert budget["selector"]["matchLabels"] == labels and budget["maxUnavailable"] == 1
    scaler = of_kind(KUBERNETES, "HorizontalPodAutoscaler")["spec"]
    assert scaler["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    assert scaler["minReplicas"] == deployment["spec"]["replicas"] < scaler["maxReplicas"]
    policy = of_kind(KUBERNETES, "NetworkPolicy")["spec"]
    assert policy["podSelector"]["matchLabels"] == labels
    (way_in,) = policy["ingress"]
    assert {each["port"] for each in way_in["ports"]} == set(kubernetes_start().ports)
    ways_out = {
        (each["protocol"], each["port"]) for way in policy["egress"] for each in way["ports"]
    }
    assert ways_out == {("UDP", 53), ("TCP", 53), ("TCP", 5432), ("TCP", 443)}


@pytest.mark.promise("Q7")
@pytest.mark.parametrize("name", ["image.txt", "build.txt"])
def test_what_the_image_installs_is_locked_with_hashes_and_names_no_index(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    entries = text.replace("\\\n", " ").splitlines()
    assert all("==" in entry and "--hash=sha256:" in entry for entry in entries if entry.strip())
    assert "://" not in text and "index-url" not in text
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert f"--require-hashes -r requirements/{name}" in dockerfile
