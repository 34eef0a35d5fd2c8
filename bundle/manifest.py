"""The bundle for one click: its manifest, its project file, and the archive of all."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

from bundle.description import ROOT, Description

MANIFEST_VERSION = "0.4"
ICONS = ROOT / "src" / "carrel" / "doors" / "mcp"
# Asked only where somebody adds a reference by its identifier.
PRIVACY_POLICIES = (
    "https://www.crossref.org/operations-and-sustainability/privacy/",
    "https://www.nlm.nih.gov/web_policies.html",
    "https://info.arxiv.org/help/policies/privacy_policy.html",
    "https://archive.org/about/terms.php",
    "https://policies.google.com/privacy",
)
_ABOUT = """{summary}.

Papers (PDF, Markdown, JATS), references, notes and research stay on this machine, in one folder. \
No key and no account are needed. Choose a folder of papers and Carrel keeps in step with it; \
everything else can be added in a conversation.

The first start fetches Python packages and takes a minute; later starts need no network. The \
network is asked only where a reference is added by DOI, PMID, arXiv id or ISBN."""
# A fixed day, so that the same contents give the same archive.
_DAY = (2020, 1, 1, 0, 0, 0)


def manifest(description: Description) -> dict[str, Any]:
    """The manifest.json of the bundle."""
    project = description.project
    return {
        "manifest_version": MANIFEST_VERSION,
        "name": project["name"],
        "display_name": description.title,
        "version": description.version,
        "description": project["description"],
        "long_description": _ABOUT.format(summary=project["description"]),
        "author": {"name": project["authors"][0]["name"]},
        "icon": "icon.png",
        "icons": [
            {"src": "icon.png", "size": "512x512"},
            {"src": "icon_small.png", "size": "48x48"},
        ],
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "server.py"],
                "env": {
                    "CARREL_HOME": "${user_config.home}",
                    "CARREL_PAPERS_WATCH": "${user_config.papers}",
                },
            },
        },
        "tools": [{"name": name, "description": about} for name, about in description.tools],
        "tools_generated": False,
        "prompts": [
            {
                "name": prompt.name,
                "description": prompt.description,
                "arguments": prompt.arguments,
                "text": prompt.text,
            }
            for prompt in description.prompts
        ],
        "prompts_generated": description.has_other_prompts,
        "keywords": project["keywords"],
        "license": project["license"],
        "privacy_policies": list(PRIVACY_POLICIES),
        # No platforms: which systems were tried stands in docs/limits.md.
        "compatibility": {"runtimes": {"python": project["requires-python"]}},
        "user_config": {
            "papers": {
                "type": "directory",
                "title": "Folder of papers",
                "description": "PDF, Markdown and JATS files in it are put on the desk, and new "
                "ones as they come. Leave it empty to add papers in a conversation.",
                "required": False,
            },
            "home": {
                "type": "directory",
                "title": "Where Carrel keeps its data",
                "description": "Leave it empty for the usual place, which the command `carrel` "
                "uses as well.",
                "required": False,
            },
        },
    }


def project_file(description: Description, wheel: str) -> str:
    """The pyproject.toml of the bundle: the wheel beside it, and the versions that were tested."""
    pinned = (ROOT / "requirements" / "run.txt").read_text("utf-8")
    pins = re.findall(r"^([\w.\[\]-]+==[^\\\n]+?) *\\?$", pinned, re.MULTILINE)
    lines = [
        "[project]",
        'name = "carrel-bundle"',
        f"version = {_quote(description.version)}",
        f"requires-python = {_quote(description.project['requires-python'])}",
        'dependencies = ["carrel"]',
        "",
        "[tool.uv]",
        "package = false",
        "constraint-dependencies = [",
        *(f"  {_quote(pin)}," for pin in pins),
        "]",
        "",
        "[tool.uv.sources]",
        f"carrel = {{ path = {_quote(wheel)} }}",
    ]
    return "\n".join(lines) + "\n"


def write_bundle(description: Description, wheel: Path, folder: Path) -> Path:
    """Pack the bundle and give its path."""
    target = folder / f"carrel-{description.version}.mcpb"
    text = json.dumps(manifest(description), indent=2, ensure_ascii=False) + "\n"
    files = {
        "manifest.json": text.encode(),
        "pyproject.toml": project_file(description, wheel.name).encode(),
        "server.py": (ROOT / "bundle" / "server.py").read_bytes(),
        "icon.png": (ICONS / "icon.png").read_bytes(),
        "icon_small.png": (ICONS / "icon_small.png").read_bytes(),
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        wheel.name: wheel.read_bytes(),
    }
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return target


def _quote(text: str) -> str:
    """A TOML string; JSON's form of plain text is one."""
    return json.dumps(text, ensure_ascii=False)
