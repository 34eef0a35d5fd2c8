"""Hosts that nothing is downloaded from, as a list of names."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files


def is_refused_host(host: str) -> bool:
    """Whether a host is one that gives copies without the right to do so."""
    labels = host.lower().strip(".").split(".")
    names, hosts = _read_list()
    if any(label in names for label in labels[:-1]):
        return True
    return any(".".join(labels[start:]) in hosts for start in range(len(labels)))


@lru_cache(maxsize=1)
def _read_list() -> tuple[frozenset[str], frozenset[str]]:
    text = files("carrel.services").joinpath("refused_hosts.txt").read_text("utf-8")
    lines = [line.strip() for line in text.splitlines()]
    entries = [line for line in lines if line and not line.startswith("#")]
    names = frozenset(entry.removesuffix(".*") for entry in entries if entry.endswith(".*"))
    return names, frozenset(entry for entry in entries if not entry.endswith(".*"))
