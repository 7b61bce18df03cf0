"""Frames per second of 64 x 64 RGBD in 100 boxes, drawn by OpenGL, for N in {1, 64, 1024}: to the host, and left there.

The scene is that of the rows rgbd64_boxes100 and rgbd64_shadow of ./dev bench. Prints a line each, then all as JSON.
Runs without a GPU too, on Mesa, with N of 64 at most and without the half that stays on a GPU.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import mvsim_gym
from mvsim_gym import _core
from mvsim_gym.tools.commands.doctor import report

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path[:0] = [str(BENCHMARKS), str(BENCHMARKS / "figures")]
from views import ENV, camera, world  # noqa: E402

RUNS, SECONDS = 5, 1.0


def rate(folder: Path, num_envs: int, device: str) -> list[float]:
    """Frames per second, an image and a depth each; every run is timed to its end on the GPU."""
    envs = mvsim_gym.VectorEnv(
        folder / "v.env.xml", num_envs=num_envs, camera_backend="egl", device=device, copy=False
    )
    actions = np.random.default_rng(0).uniform(-1, 1, (num_envs, 2)).astype(np.float32)
    envs.reset(seed=0)
    rates = []
    for run in range(RUNS + 1):
        began, steps = time.perf_counter(), 0
        while time.perf_counter() - began < SECONDS:
            observation, *_ = envs.step(actions)
            steps += 1
        if device != "cpu":
            observation["depth"][0].to_numpy()
        if run > 0:
            rates.append(steps * num_envs / (time.perf_counter() - began))
    envs.close()
    return rates


def why_no_gpu() -> str:
    try:
        return "" if _core.cuda_device_name(0) else "no name"
    except ValueError as error:
        return str(error)


def main() -> None:
    lines, problems = report()
    print("\n".join([*lines, *problems]))
    reason = why_no_gpu()
    devices = ["cpu"] if reason else ["cpu", "cuda:0"]
    if reason:
        print(f"left out: arrays on a GPU ({reason})")
    rows: list[dict[str, Any]] = []
    for shadows in (False, True):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "w.world.xml").write_text(world(camera(64, 64), shadows))
            observed = '<observe class="depth"/><observe class="image"/>'
            (folder / "v.env.xml").write_text(ENV.format(observe=observed))
            for num_envs in (1, 64) if reason else (1, 64, 1024):
                for device in devices:
                    rates = rate(folder, num_envs, device)
                    rows.append(
                        {
                            "shadows": shadows,
                            "num_envs": num_envs,
                            "device": device,
                            "frames_per_second": rates,
                        }
                    )
                    median = statistics.median(rates)
                    spread = f"{min(rates):,.0f} to {max(rates):,.0f}"
                    print(
                        f"shadows {shadows!s:5} N {num_envs:5} {device:7} {median:12,.0f} frames/s ({spread})",
                        flush=True,
                    )
    print(json.dumps({"machine": lines, "rows": rows}))


if __name__ == "__main__":
    main()
