"""Worlds with meshes on machines whose libassimp is absent or another one; worlds without meshes need none."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import DATA, run_python

LOAD = """
import sys
from mvsim_gym import World, WorldFileError
path, text = {path!r}, {text!r}
open(path, "w").write(text)
try:
    World(path, roots=[{roots!r}]).step(0.1)
    print("runs")
except WorldFileError as error:
    print(error)
"""
MESH = f"<visual><model_uri>{DATA}/meshes/box.dae</model_uri></visual><shape_from_visual/>"


def loaded_with(library: Path, folder: Path, inside: str) -> str:
    """Returns the output of a fresh process that loads a world with one block; it searches `library` first."""
    world = f"<mvsim_world><block><init_pose>0 0 0</init_pose>{inside}</block></mvsim_world>"
    code = LOAD.format(path=str(folder / "w.world.xml"), text=world, roots=str(DATA))
    done = run_python(code, LD_LIBRARY_PATH=f"{library.parent}:{os.environ.get('LD_LIBRARY_PATH', '')}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1, "one line"
    return done.stdout.strip()


def test_without_libassimp(tmp_path: Path) -> None:
    library = tmp_path / "libassimp.so.5"
    library.write_text("no library")
    assert loaded_with(library, tmp_path, "") == "runs"
    said = loaded_with(library, tmp_path, MESH)
    assert "w.world.xml:1:" in said and "libassimp.so.5 cannot be loaded" in said
    assert said.endswith("install it (Debian: apt-get install libassimp5)")


@pytest.mark.unsanitized
@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler")
@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (
            "unsigned aiGetVersionMajor(void){return 4;} unsigned aiGetVersionMinor(void){return 1;}",
            "meshes need libassimp 5.2, found 4.1",
        ),
        ("int no_function_of_assimp;", "lacks aiGetVersionMajor"),
    ],
    ids=["version", "functions"],
)
def test_with_another_libassimp(tmp_path: Path, source: str, problem: str) -> None:
    library = tmp_path / "libassimp.so.5"
    (tmp_path / "a.c").write_text(source)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(tmp_path / "a.c")], check=True)
    assert loaded_with(library, tmp_path, "") == "runs"
    said = loaded_with(library, tmp_path, MESH)
    assert problem in said and "apt-get install libassimp5" in said


def test_with_libassimp(tmp_path: Path) -> None:
    assert loaded_with(tmp_path / "none", tmp_path, MESH) == "runs"
