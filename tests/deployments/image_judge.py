"""Builds the image from the Dockerfile and starts every deployment file from it: `python -m
tests.deployments.image_judge`.

CARREL_TEST_IMAGE_TOOL names a program that does both without a daemon (`build CONTEXT TAG`, `run
TAG …`).
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.deployments.manifests import ROOT

TAG = "carrel-judged"
TESTS = "tests/deployments/test_deployment_files.py"


def main() -> int:
    tool = os.environ.get("CARREL_TEST_IMAGE_TOOL")
    if not tool:
        print(
            "CARREL_TEST_IMAGE_TOOL is not set: there is nothing here to build and run images with",
            file=sys.stderr,
        )
        return 2
    subprocess.run([tool, "build", str(ROOT), TAG], check=True)
    environment = {**os.environ, "CARREL_TEST_IMAGE": TAG}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", TESTS], cwd=ROOT, env=environment, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
