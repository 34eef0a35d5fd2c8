"""What the deployment files and the Dockerfile say, read as the platforms read them."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
KUBERNETES = ROOT / "deployments" / "mcp-server.yaml"
CLOUD_RUN = ROOT / "deployments" / "cloudrun" / "service.yaml"
CLOUD_RUN_KNOWLEDGE = ROOT / "deployments" / "cloudrun" / "knowledge.yaml"
COMPOSE = ROOT / "deployments" / "compose.yaml"


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What the image itself says of a start."""

    environment: dict[str, str]
    entrypoint: tuple[str, ...]
    command: tuple[str, ...]
    user: str
    volume: str
    port: int
    health_check: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Probe:
    """A request that the platform makes to see how a container is."""

    kind: str
    path: str
    port: int | None
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class ContainerStart:
    """A start as a platform makes it: the image's own words, and those of the file over them."""

    source: str
    argv: tuple[str, ...]
    environment: dict[str, str]
    secrets: dict[str, tuple[str, str]]
    user: int
    mounts: tuple[str, ...]
    ports: tuple[int, ...]
    probes: tuple[Probe, ...]
    is_root_read_only: bool = False
    replicas: int = 1
    claims: tuple[str, ...] = field(default=())


def read_dockerfile(file: Path = ROOT / "Dockerfile") -> ImageFacts:
    """The last stage of a Dockerfile."""
    text = re.sub(r"\\\n", " ", file.read_text(encoding="utf-8"))
    last_stage = text[text.rindex("\nFROM ") :].splitlines()
    found: dict[str, str] = {}
    environment: dict[str, str] = {}
    for line in last_stage:
        word, _, rest = line.strip().partition(" ")
        if word == "ENV":
            for pair in shlex.split(rest):
                name, _, value = pair.partition("=")
                environment[name] = value
        elif word:
            found[word] = rest.strip()
    health = found["HEALTHCHECK"]
    return ImageFacts(
        environment,
        tuple(json.loads(found.get("ENTRYPOINT", "[]"))),
        tuple(json.loads(found.get("CMD", "[]"))),
        found["USER"],
        found["VOLUME"],
        int(found["EXPOSE"]),
        tuple(json.loads(health[health.index("CMD ") + 4 :])),
    )


def read_documents(file: Path) -> list[dict[str, Any]]:
    return [
        document for document in yaml.safe_load_all(file.read_text(encoding="utf-8")) if document
    ]


def of_kind(file: Path, kind: str) -> dict[str, Any]:
    (found,) = [document for document in read_documents(file) if document["kind"] == kind]
    return found


def image_start() -> ContainerStart:
    """`docker run IMAGE`."""
    image = read_dockerfile()
    argv = (*image.entrypoint, *image.command)
    return ContainerStart(
        "Dockerfile",
        argv,
        image.environment,
        {},
        int(image.user),
        (image.volume,),
        (image.port,),
        (),
    )


def kubernetes_start() -> ContainerStart:
    image, deployment = read_dockerfile(), of_kind(KUBERNETES, "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    configuration = {
        each["metadata"]["name"]: each["data"]
        for each in read_documents(KUBERNETES)
        if each["kind"] == "ConfigMap"
    }
    environment = dict(image.environment)
    for source in container.get("envFrom", ()):
        environment.update(configuration[source["configMapRef"]["name"]])
    plain, secrets = _variables(container)
    claims = tuple(
        each["persistentVolumeClaim"]["claimName"]
        for each in pod["volumes"]
        if "persistentVolumeClaim" in each
    )
    return ContainerStart(
        KUBERNETES.name,
        _argv(image, container),
        {**environment, **plain},
        secrets,
        pod["securityContext"]["runAsUser"],
        tuple(mount["mountPath"] for mount in container["volumeMounts"]),
        tuple(port["containerPort"] for port in container["ports"]),
        _probes(container),
        container["securityContext"]["readOnlyRootFilesystem"],
        deployment["spec"]["replicas"],
        claims,
    )


def cloud_run_start(file: Path) -> ContainerStart:
    """The container, with what the platform itself adds (its contract for containers): PORT and the
    names of the service.
    """
    image, service = read_dockerfile(), of_kind(file, "Service")
    (container,) = service["spec"]["template"]["spec"]["containers"]
    ports = tuple(port["containerPort"] for port in container["ports"])
    name = service["metadata"]["name"]
    platform = {
        "PORT": str(ports[0]),
        "K_SERVICE": name,
        "K_REVISION": f"{name}-00001",
        "K_CONFIGURATION": name,
    }
    plain, secrets = _variables(container)
    # The one word that the file asks its reader to replace.
    plain = {name: "demo-carrel" if value == "PROJECT" else value for name, value in plain.items()}
    return ContainerStart(
        f"cloudrun/{file.name}",
        _argv(image, container),
        {**image.environment, **platform, **plain},
        secrets,
        int(image.user),
        (),
        ports,
        _probes(container),
    )


def read_compose(variables: dict[str, str]) -> dict[str, Any]:
    """The services of the compose file, with the variables of its `.env` filled in."""

    def fill_in(found: re.Match[str]) -> str:
        return variables[found["name"]]

    text = re.sub(r"\$\{(?P<name>\w+):\?[^}]*\}", fill_in, COMPOSE.read_text(encoding="utf-8"))
    services: dict[str, Any] = yaml.safe_load(text)["services"]
    return services


def compose_start(name: str, service: dict[str, Any]) -> ContainerStart:
    image = read_dockerfile()
    assert all(isinstance(value, str) for value in service["environment"].values())
    return ContainerStart(
        f"{COMPOSE.name}/{name}",
        (*image.entrypoint, *service["command"]),
        {**image.environment, **service["environment"]},
        {},
        int(image.user),
        (*(volume.split(":")[1] for volume in service["volumes"]), *service["tmpfs"]),
        (image.port,),
        (),
        service["read_only"],
    )


def _argv(image: ImageFacts, container: dict[str, Any]) -> tuple[str, ...]:
    """`command` takes the place of ENTRYPOINT and drops CMD; `args` takes the place of CMD."""
    command, arguments = container.get("command"), container.get("args")
    if command:
        return (*command, *(arguments or ()))
    return (*image.entrypoint, *(arguments if arguments is not None else image.command))


def _variables(container: dict[str, Any]) -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    plain, secrets = {}, {}
    for variable in container.get("env", ()):
        if "value" in variable:
            assert isinstance(variable["value"], str), (
                f"{variable['name']} must be quoted: platforms take only text"
            )
            plain[variable["name"]] = variable["value"]
        else:
            reference = variable["valueFrom"]["secretKeyRef"]
            secrets[variable["name"]] = (reference["name"], reference["key"])
    return plain, secrets


def _probes(container: dict[str, Any]) -> tuple[Probe, ...]:
    found = []
    for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
        if kind in container:
            request = container[kind]["httpGet"]
            headers = {header["name"]: header["value"] for header in request.get("httpHeaders", ())}
            found.append(Probe(kind, request["path"], request.get("port"), headers))
    return tuple(found)
