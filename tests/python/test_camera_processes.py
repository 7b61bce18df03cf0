"""Cameras in many processes and on chosen devices: what robustness asks of pictures beyond one process (T51, T59).

Threads (T53) have a test in test_camera_egl.py, faults of drivers (T60) in test_gl_faults.py, memory (T71) in
test_processes.py, a real GPU (T52) in test_gpu.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import lasting, run_python
from test_camera_backends import write_world
from test_cameras import Boxes, depth_camera

ENV = """<mvsim_env id="t" world="w.world.xml" control_period="0.1" time_limit="5">
<agent vehicle="r"><action class="twist" vx="-1 1" omega="-2 2"/><observe class="image"/></agent>
<reset><spawn clearance="0.2" area="-2 2 -2 2"/></reset><reward class="time" weight="-1"/></mvsim_env>"""
COUNT = 8
STEPPING = """
import functools
import numpy as np
from gymnasium.vector import AsyncVectorEnv
import mvsim_gym

def main():
    make = [functools.partial(mvsim_gym.Env, {path!r}, camera_backend={backend!r})] * {count}
    actions = np.random.default_rng(0).uniform(-1, 1, ({steps}, {count}, 2)).astype(np.float32)
    together = mvsim_gym.VectorEnv({path!r}, num_envs={count}, num_threads=1, camera_backend={backend!r})
    wanted, _ = together.reset(seed=5)
    if {kind!r} == "gymnasium":
        envs = AsyncVectorEnv(make, context={method!r})
        found, _ = envs.reset(seed=5)
    else:
        from stable_baselines3.common.vec_env import SubprocVecEnv

        envs = SubprocVecEnv(make, start_method={method!r})
        envs.seed(5)
        found = envs.reset()
    assert (found["image"] == wanted["image"]).all()
    for action in actions:
        found = envs.step(action)[0]
        if {kind!r} == "gymnasium":
            wanted = together.step(action)[0]
    assert {kind!r} != "gymnasium" or (found["image"] == wanted["image"]).all()
    envs.close()
    print("completed")

if __name__ == "__main__":
    main()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    camera = depth_camera("0.1 0 0.9 0 12 7").replace(">64<", ">16<").replace(">48<", ">12<")
    write_world(tmp_path, camera, Boxes(5, 10).xml())
    out = tmp_path / "t.env.xml"
    out.write_text(ENV)
    return out


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gymnasium", "stable-baselines3"])
@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
@pytest.mark.parametrize("backend", ["egl", "rays"])
def test_t51_eight_processes_complete_their_steps(path: Path, kind: str, method: str, backend: str) -> None:
    """AsyncVectorEnv and SubprocVecEnv; one that hangs is ended by the time limit of its process, and fails."""
    steps = lasting(500, 50)
    code = STEPPING.format(
        path=str(path), backend=backend, kind=kind, method=method, count=COUNT, steps=steps
    )
    main = path.parent / "main.py"
    main.write_text(code)
    done = run_python(f"import runpy; runpy.run_path({str(main)!r}, run_name='__main__')", timeout=300)
    assert done.stdout == "completed\n", done.stderr


DRAWING = """
import mvsim_gym
world = mvsim_gym.World({world!r}, camera_backend="egl")
print("made")
try:
    world.vehicles["r"].sensors["cam"].read(fresh=True)
    print("drawn")
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("software", "drawn"),
        ("auto", "drawn"),
        ("97", "no EGL device 97; this machine has 0: "),
        ("cuda:97", "no EGL device is CUDA device 97; this machine has 0: "),
        ("best", "MVSIM_EGL_DEVICE: 'best', expected auto, software, an EGL device index or cuda:<n>"),
    ],
)
def test_t59_a_device_is_chosen_or_the_message_lists_them(path: Path, device: str, said: str) -> None:
    """Worlds are made all the same: a device is looked for with the first picture. A permuted CUDA_VISIBLE_DEVICES is
    tried in test_device.py and device_choice_test.cpp, a machine without libEGL in test_camera_egl.py."""
    code = DRAWING.format(world=str(path.parent / "w.world.xml"))
    done = run_python(code, timeout=120, MVSIM_EGL_DEVICE=device)
    first, second = done.stdout.splitlines()
    assert first == "made" and second.startswith(said), done.stdout + done.stderr


def test_t59_a_hidden_gpu_is_not_drawn_on(path: Path) -> None:
    done = run_python(DRAWING.format(world=str(path.parent / "w.world.xml")), CUDA_VISIBLE_DEVICES="")
    assert done.stdout == "made\ndrawn\n", done.stderr
