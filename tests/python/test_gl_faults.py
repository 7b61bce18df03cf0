"""Faults of OpenGL (T60): runs gl_faults.py with the shim of tests/doubles before libEGL."""

from __future__ import annotations

from pathlib import Path

import pytest
from doubles import run_tests


@pytest.mark.unsanitized  # a child that loads other libraries
def test_gl_faults(doubles: Path) -> None:
    run_tests("gl_faults.py", doubles)
