"""Runs typed_observations.py on a build of the module that has observations of the tests: uint8 [4, 5, 3] and others.

`./dev test` builds it (target core_with_test_terms); the module of the package has none of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import gymnasium as gym
import pytest
from conftest import ROOT

from mvsim_gym.errors import WorldFileError

MODULES = sorted((ROOT / "build" / "dev" / "test_terms").glob("_core*.so"))


def test_the_package_has_no_observations_of_the_tests() -> None:
    with pytest.raises(WorldFileError, match="unknown class 'test_image'"):
        gym.make("mvsim/NavArena-v0", observe={"picture": {"class": "test_image"}})


@pytest.mark.unsanitized
@pytest.mark.skipif(not MODULES, reason="build it: cmake --build build/dev --target core_with_test_terms")
def test_typed_observations(tmp_path: Path) -> None:
    package = tmp_path / "test_terms" / "mvsim_gym"
    package.mkdir(parents=True)
    home = ROOT / "python" / "mvsim_gym"
    folders = [f for f in home.iterdir() if f.is_dir() and f.name != "__pycache__"]
    for source in [*home.glob("*.py"), *folders, *MODULES]:
        (package / source.name).symlink_to(source)
    # the base interpreter reads no import hook of the editable install
    paths = [str(package.parent), sysconfig.get_path("purelib")]
    found = subprocess.run(
        [
            sys._base_executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "tests/python/typed_observations.py",
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert found.returncode == 0 and " passed" in found.stdout, found.stdout + found.stderr
