"""What an import costs and brings."""

from __future__ import annotations

import pytest
from conftest import run_python

import mvsim_gym


def test_import_is_lazy() -> None:
    """No learner, no OpenGL, no thread at import; nor with an environment that draws nothing."""
    code = """
import sys, os, mvsim_gym, gymnasium
print(len(os.listdir("/proc/self/task")))
heavy = [m for m in ("torch", "stable_baselines3", "matplotlib", "cv2", "pygame", "mvsim_gym.env", "mvsim_gym.world")
         if m in sys.modules]
gymnasium.make("mvsim/NavArena-v0").reset(seed=0)
with open("/proc/self/maps") as maps:
    gl = [line for line in maps if "libEGL" in line or "libGL." in line]
print(heavy, gl)
"""
    done = run_python(code, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    assert done.stdout == "1\n[] []\n", done.stdout + done.stderr


@pytest.mark.unsanitized  # imports PyTorch
def test_everything_in_all_is_there() -> None:
    pytest.importorskip("stable_baselines3")
    for name in mvsim_gym.__all__:
        assert getattr(mvsim_gym, name) is not None and name in dir(mvsim_gym)
    with pytest.raises(AttributeError, match="Wrold"):
        _ = mvsim_gym.Wrold
