"""Promises of a release: episodes of an id, one version, workflows, containers, the changelog."""

from __future__ import annotations

import ctypes
import json
import os
import re
import runpy
import subprocess
from pathlib import Path

import golden_episodes
import pytest
from conftest import ALL_IDS, ROOT

import mvsim_gym
from mvsim_gym import _core

GOLDEN = json.loads(golden_episodes.GOLDEN.read_text())
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("any_id", ALL_IDS)
def test_episodes_of_an_id_stay(any_id: str) -> None:
    """A change of what an episode returns needs a new -vN; only a mended fault, listed in CHANGELOG.md, needs none.
    After it, or for a new id: `python tests/python/golden_episodes.py --write`."""
    assert golden_episodes.episode_hash(any_id) == GOLDEN.get(any_id), (
        "another episode for the same seed: a new -vN"
    )


def test_golden_episodes_of_no_former_id() -> None:
    assert sorted(GOLDEN) == golden_episodes.golden_ids()


def test_one_version() -> None:
    """It stands in python/mvsim_gym/__init__.py; the build reads it there, and the citation follows."""
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [mvsim_gym.__version__]
    project = (ROOT / "pyproject.toml").read_text()
    assert 'dynamic = ["version"]' in project and not re.search(r'^version = "\d', project, re.MULTILINE)


def test_changelog_is_kept() -> None:
    """Keep a Changelog: the unreleased heading first, then dated versions; known kinds of changes alone."""
    text = (ROOT / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    for version in versions[1:]:
        assert re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", version), version
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= kinds


class _Found(ctypes.Structure):
    """`Dl_info` of dladdr(3)."""

    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("at", ctypes.c_void_p),
    ]


@pytest.mark.parametrize(
    "symbol",
    [
        "_ZN7b2Timer5ResetEv",
        "_ZN16b2StackAllocator8AllocateEi",
        "_Z17b2CollidePolygonsP10b2ManifoldPK14b2PolygonShapeRK11b2TransformS3_S6_",
    ],
)
def test_own_functions_replace_those_of_box2d(symbol: str) -> None:
    """Steps in contact take a third longer where the linker hides them, as in a wheel once."""
    library = ctypes.CDLL(_core.__file__)
    found = _Found()
    address = ctypes.cast(getattr(library, symbol), ctypes.c_void_p)
    assert ctypes.CDLL(None).dladdr(address, ctypes.byref(found)) != 0
    assert os.path.realpath(found.file.decode()) == os.path.realpath(_core.__file__)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_hash(workflow: Path) -> None:
    used = re.findall(r"uses: (.*)", workflow.read_text())
    assert used
    for action in used:
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_what_is_there(workflow: Path) -> None:
    """They are YAML, start with the fewest rights, and run commands of the repository."""
    yaml = pytest.importorskip("yaml")
    read = yaml.safe_load(workflow.read_text())
    assert read["permissions"] == {"contents": "read"}
    commands = set(re.findall(r"^#: ([\w-]+)", (ROOT / "dev").read_text(), re.MULTILINE))
    steps = [step.get("run", "") for job in read["jobs"].values() for step in job["steps"]]
    for command in re.findall(r"\./dev ([\w-]+)", "\n".join(steps)):
        assert command in commands
    for path in re.findall(r"(?<![\w/])(\.ci/[\w/.]+)", "\n".join(steps)):
        assert (ROOT / path).exists(), path


def test_scripts_are_shell() -> None:
    for script in (ROOT / "dev", *(ROOT / ".ci" / "packaging").glob("*.sh")):
        subprocess.run(["sh", "-n", str(script)], check=True)


def test_dockerfile_is_slim_and_not_root() -> None:
    """`./dev release-check` runs these steps in a bare root (.ci/packaging/dockerfile.py)."""
    text = (ROOT / "Dockerfile").read_text()
    module = runpy.run_path(str(ROOT / ".ci" / "packaging" / "dockerfile.py"))
    subprocess.run(["sh", "-n"], input=module["script_of"](text), text=True, check=True)
    steps = list(module["steps_of"](text))
    names = [name for name, _ in steps]
    assert names[0] == "FROM" and steps[0][1].startswith("debian:") and steps[0][1].endswith("-slim")
    assert set(names) <= {"FROM", "COPY", "RUN", "ENV", "USER", "WORKDIR", "ENTRYPOINT"}
    assert ("USER", "robot") in steps and names.index("USER") > max(
        k for k, name in enumerate(names) if name == "RUN"
    )
    assert not re.search(r"\b(gcc|g\+\+|build-essential|cmake)\b", text)
