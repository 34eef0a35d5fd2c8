"""Others' validators of what is built: the manifest's own from npm, and two of registry entries.

The registry's schema is in no npm package of its own. The linter of @cyanheads/mcp-ts-core checks
an entry by the rules of that schema, and the package skillsaw (PyPI) carries the schema itself, as
the registry released it, and the rules that the registry has beyond it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

MANIFEST_CHECKER = "@anthropic-ai/mcpb@2.1.2"
ENTRY_LINTER = "@cyanheads/mcp-ts-core@0.10.17"
SCHEMA_HOLDER = "skillsaw==0.22.0"
_NPM = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--ignore-scripts"]
_LINT = """
import { readFileSync } from 'node:fs';
import { validateDefinitions } from '@cyanheads/mcp-ts-core/linter';
const entry = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const report = validateDefinitions({ serverJson: entry });
for (const each of [...report.errors, ...report.warnings]) console.log(`${each.severity}: ${each.message}`);
process.exit(report.passed ? 0 : 1);
"""  # noqa: E501


class NotCheckedError(Exception):
    """A validator cannot be had here; says which and what to do."""


class InvalidError(Exception):
    """A validator refused what was built; holds what it said."""


def fetch_from_npm(folder: Path) -> Path:
    """Install the validators of npm into a folder, unless they are there."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        raise NotCheckedError("npm and Node.js are not installed; with them, run it again.")
    folder.mkdir(parents=True, exist_ok=True)
    stamp = folder / "fetched.txt"
    wanted = f"{MANIFEST_CHECKER} {ENTRY_LINTER}"
    if not stamp.exists() or stamp.read_text() != wanted:
        options = ["--omit=optional", "--omit=peer", "--prefix", str(folder)]
        done = _run([*_NPM, *options, MANIFEST_CHECKER, ENTRY_LINTER])
        if done.returncode:
            raise NotCheckedError(f"npm could not fetch the validators: {_said(done)[-500:]}")
        (folder / "lint.mjs").write_text(_LINT, encoding="utf-8")
        stamp.write_text(wanted)
    return folder


def check_bundle(bundle: Path, npm: Path) -> str:
    """Let the bundle's own tool read the archive and validate its manifest."""
    program = str(npm / "node_modules" / ".bin" / "mcpb")
    unpacked = npm / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    for words in (["info", str(bundle)], ["unpack", str(bundle), str(unpacked)]):
        _demand([program, *words])
    said = _demand([program, "validate", str(unpacked / "manifest.json")])
    # What its own tool packs from the same files has the same contents.
    _demand([program, "pack", str(unpacked), str(npm / "packed.mcpb")])
    shutil.rmtree(unpacked)
    return said


def check_entry_by_linter(entry: Path, npm: Path) -> str:
    """Lint a registry entry with the rules from npm."""
    return _demand(["node", str(npm / "lint.mjs"), str(entry)])


def check_entry_by_schema(entry: Path, folder: Path) -> str:
    """Validate a registry entry by the schema that the registry released."""
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not (folder / "fetched.txt").exists():
        for words in (
            ["venv", "--quiet", "--python", sys.executable, str(folder)],
            ["pip", "install", "--quiet", "--python", str(python), SCHEMA_HOLDER],
        ):
            done = _run([sys.executable, "-m", "uv", *words])
            if done.returncode:
                raise NotCheckedError(f"{SCHEMA_HOLDER} cannot be had: {_said(done)[-500:]}")
        (folder / "fetched.txt").write_text(SCHEMA_HOLDER)
    # It looks at a repository, where an entry lies beside a project of the same name.
    repository = folder / "repository"
    shutil.rmtree(repository, ignore_errors=True)
    repository.mkdir()
    shutil.copy(entry, repository / "server.json")
    release = json.loads(entry.read_text("utf-8"))["$schema"].split("/")[-2].replace("-", "_")
    schema = next(folder.rglob(f"mcp_registry/v{release}/server.schema.json"))
    _demand([str(python), "-c", _BY_SCHEMA, str(schema), str(entry)])
    said = _demand([str(python.with_name("skillsaw")), "lint", str(repository)])
    return f"fits {schema.parent.name}; {said.splitlines()[-1] if said else 'no complaint'}"


_BY_SCHEMA = """
import json, sys, jsonschema
schema, entry = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
jsonschema.Draft7Validator.check_schema(schema)
wrong = [f"{list(e.path)}: {e.message}" for e in jsonschema.Draft7Validator(schema).iter_errors(entry)]
sys.exit("\\n".join(wrong) or 0)
"""  # noqa: E501


def _demand(words: list[str]) -> str:
    done = _run(words)
    if done.returncode:
        raise InvalidError(f"{Path(words[0]).name} {' '.join(words[1:])[:200]}:\n{_said(done)}")
    return _said(done)


def _run(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def _said(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stdout + done.stderr).strip()
