"""Images of cameras that stay on a GPU. What needs one is tests/gpu, which ./dev gpu-pack takes along; here stand in
tests/doubles: a libcuda over the host's memory, and a shim before libEGL that says that Mesa draws on CUDA's device 0.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import run_python
from doubles import environment, run_tests

import mvsim_gym

DEPTH = "mvsim/DepthNavigation-v0"


@pytest.mark.unsanitized  # a child that loads other libraries
def test_device_arrays(doubles: Path) -> None:
    run_tests("device_arrays.py", doubles)


MAKING = """
import mvsim_gym
try:
    mvsim_gym.VectorEnv({env!r}, num_envs=1, device={device!r}).reset(seed=0)
    print("made")
except Exception as error:
    print(type(error).__name__, error)
"""


def said(device: str = "cuda:0", env: str = DEPTH, **variables: str) -> str:
    done = run_python(MAKING.format(env=env, device=device), timeout=120, **variables)
    assert done.stdout.count("\n") == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.unsanitized
def test_which_gpu(doubles: Path) -> None:
    """That of CUDA, whatever EGL calls it; another one, or none, is refused in one line with the remedy."""
    assert said(**environment(doubles)) == "made\n"
    # EGL knows the GPU by another number than CUDA does, which CUDA_VISIBLE_DEVICES may or may not explain
    assert said(**environment(doubles, SHIM_CUDA="3", CUDA_VISIBLE_DEVICES="3")) == "made\n"
    assert said(**environment(doubles, SHIM_CUDA="3")) == "made\n"
    elsewhere = said(**environment(doubles, FAKE_CUDA_DRAWS="1", FAKE_CUDA_COUNT="2"))
    assert "no EGL device draws on cuda:0 (Fake GPU 0): 0: " in elsewhere and "another GPU" in elsewhere
    assert "NVIDIA_DRIVER_CAPABILITIES=all" in elsewhere
    assert "CUDA lists cuda:0 only" in said("cuda:7", **environment(doubles))
    assert "CUDA lists no GPU" in said("cuda:0", **environment(doubles, FAKE_CUDA_COUNT="0"))
    variables = environment(doubles)
    del variables["SHIM_CUDA"]
    plain = said(**variables)
    assert "no EGL device draws on cuda:0 (Fake GPU 0): this machine has 0: " in plain


@pytest.mark.unsanitized
def test_a_process_draws_on_one_gpu(doubles: Path) -> None:
    code = f"""
import mvsim_gym
mvsim_gym.VectorEnv({DEPTH!r}, num_envs=1, camera_backend="egl").reset(seed=0)
try:
    mvsim_gym.VectorEnv({DEPTH!r}, num_envs=1, device="cuda:0")
except ValueError as error:
    print(error)
"""
    done = run_python(code, **environment(doubles, FAKE_CUDA_DRAWS="1", FAKE_CUDA_COUNT="2"))
    assert "the cameras of this process are drawn on" in done.stdout, done.stdout + done.stderr
    assert "which is not cuda:0" in done.stdout and "MVSIM_EGL_DEVICE" in done.stdout


@pytest.mark.unsanitized
def test_a_forked_process_is_refused(doubles: Path) -> None:
    code = f"""
import os, numpy as np, mvsim_gym
envs = mvsim_gym.VectorEnv({DEPTH!r}, num_envs=2, num_threads=1, device="cuda:0")
envs.reset(seed=0)
child = os.fork()
if child == 0:
    try:
        envs.reset(seed=0)
    except mvsim_gym.ForkedProcessError as error:
        print(error, flush=True)
        envs.close()
        del envs
        raise SystemExit(0)
    raise SystemExit(1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
envs.reset(seed=0)
print("parent goes on")
"""
    done = run_python(code, **environment(doubles))
    assert done.stdout.endswith("0\nparent goes on\n") and "fork" in done.stdout, done.stdout + done.stderr


@pytest.mark.unsanitized
def test_a_libcuda_that_is_none(doubles: Path, tmp_path: Path) -> None:
    (tmp_path / "libcuda.so.1").symlink_to(next(Path("/usr/lib").glob("*/libz.so.1")))
    found = said(LD_LIBRARY_PATH=str(tmp_path))
    assert "libcuda.so.1 lacks cuInit, expected CUDA 11 or later" in found


def has_gpu() -> bool:
    return any(Path("/dev").glob("nvidia[0-9]*"))


@pytest.mark.skipif(has_gpu(), reason="there is a GPU")
def test_without_a_gpu_it_is_refused_with_the_reason_and_the_remedy() -> None:
    with pytest.raises(
        ValueError, match=r"arrays on a GPU need libcuda.so.1 \(.*\): it is part of NVIDIA's driver"
    ) as error:
        mvsim_gym.VectorEnv(DEPTH, num_envs=2, device="cuda:0")
    assert "leave out device=" in str(error.value) and "\n" not in str(error.value)


def test_the_host_is_the_default() -> None:
    envs = mvsim_gym.VectorEnv(DEPTH, num_envs=2, device="cpu")
    assert isinstance(envs.reset(seed=0)[0]["depth"], np.ndarray)


@pytest.mark.parametrize(
    "found", ["gpu", "cuda", "cuda:", "cuda:-1", "cuda:x", "", None, 0, "cuda:99999999999"]
)
def test_other_words_are_refused(found: object) -> None:
    with pytest.raises(ValueError, match=r"device: found .*, expected 'cpu' or 'cuda:<n>'"):
        mvsim_gym.VectorEnv(DEPTH, device=found)  # type: ignore[arg-type]


def test_what_cannot_be_on_a_gpu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any driver is looked for, so that it is told everywhere."""
    with pytest.raises(
        ValueError, match="device: found 'cuda:0' and camera_backend='rays', which draws on the CPU"
    ):
        mvsim_gym.VectorEnv(DEPTH, device="cuda:0", camera_backend="rays")
    with pytest.raises(ValueError, match=r"observes no image of a camera .*leave out device="):
        mvsim_gym.VectorEnv("mvsim/NavArena-v0", device="cuda:0")
    with pytest.raises(ValueError, match="the observation 'depth' has history=\"3\", expected 1"):
        mvsim_gym.VectorEnv(DEPTH, device="cuda:0", observe={"depth": {"history": 3}})
    with pytest.raises(TypeError, match=r"'device', which is one of gymnasium.make_vec"):
        mvsim_gym.Env(DEPTH, device="cuda:0")
    monkeypatch.setenv("MVSIM_CAMERA", "rays")
    with pytest.raises(ValueError, match="device: found 'cuda:0' and MVSIM_CAMERA=rays"):
        mvsim_gym.VectorEnv(DEPTH, device="cuda:0")
