"""That ./dev asan-python watches what it means to watch: the module under sanitizers, in every process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import run_python

from mvsim_gym import _core

pytestmark = pytest.mark.skipif("MVSIM_SANITIZED" not in os.environ, reason="run by ./dev asan-python")


def test_every_process_loads_the_module_under_sanitizers() -> None:
    module = Path(_core.__file__)
    symbols = module.read_bytes()
    assert b"__asan_report_load" in symbols and b"__ubsan_handle" in symbols
    child = run_python("from mvsim_gym import _core; print(_core.__file__)")
    assert child.stdout == f"{module}\n", child.stderr


def test_a_fault_ends_the_process() -> None:
    """One byte beyond a block, by a C function: no test could go on after it and pass."""
    child = run_python("""
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
block = libc.malloc(16)
ctypes.memmove(block, bytes(17), 17)
print("still alive")
""")
    assert child.returncode != 0 and child.stdout == ""
    assert "AddressSanitizer: heap-buffer-overflow" in child.stderr
