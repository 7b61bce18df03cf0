"""Libraries of tests/doubles in place of the machine's: a libcuda over the host's memory, and a shim before libEGL that
can fail, and say that Mesa draws on CUDA's device 0. They work in processes that are started with them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

LIBRARIES = {"libcuda.so.1": "fake_cuda", "libEGL.so.1": "egl_shim"}


def real_egl() -> str:
    found = sorted(Path("/usr/lib").glob("*/libEGL.so.1"))
    if not found:
        pytest.skip("this machine has no libEGL.so.1")
    return str(found[0])


def build(folder: Path) -> Path:
    """Compiles them into a folder that the dynamic loader is to look into first."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("this machine has no C++ compiler")
    for library, source in LIBRARIES.items():
        flags = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-fvisibility=hidden"]
        name = ["-o", str(folder / library), f"-Wl,-soname,{library}"]
        text = ROOT / "tests" / "doubles" / f"{source}.cpp"
        subprocess.run([compiler, *flags, str(text), *name, "-ldl"], check=True)
    return folder


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {"LD_LIBRARY_PATH": str(folder), "SHIM_REAL_EGL": real_egl(), "SHIM_CUDA": "0", **more}


def run_tests(file: str, folder: Path) -> None:
    """Runs the tests of a file with them; none may be skipped."""
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/python/{file}"],
        cwd=ROOT,
        env={**os.environ, **environment(folder)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert found.returncode == 0 and " passed" in found.stdout, found.stdout + found.stderr
    assert "skipped" not in found.stdout, found.stdout
