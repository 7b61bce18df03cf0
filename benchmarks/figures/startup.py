"""Start-up times: the import, `gym.make`, and an unseeded reset, each in fresh processes."""

from __future__ import annotations

from figure import Row, Settings, figure, in_fresh_process

IMPORT = """
import numpy, gymnasium, time
began = time.perf_counter()
import mvsim_gym
print((time.perf_counter() - began) * 1e3)
"""
MAKE = """
import gymnasium, mvsim_gym, time
began = time.perf_counter()
env = gymnasium.make("mvsim/NavArena-v0")
print((time.perf_counter() - began) * 1e3)
"""
RESET = """
import gymnasium, mvsim_gym, time
env = gymnasium.make("mvsim/NavArena-v0").unwrapped
env.reset(seed=0)
for _ in range(100):
    env.reset()
began = time.perf_counter()
for _ in range(2000):
    env.reset()
print((time.perf_counter() - began) / 2000 * 1e6)
"""


def _runs(code: str, settings: Settings) -> list[float]:
    in_fresh_process(code)  # warms the file cache
    return [in_fresh_process(code) for _ in range(settings.runs)]


@figure("import_ms")
def import_ms(settings: Settings) -> Row:
    config = {"work": "import mvsim_gym after numpy and gymnasium, fresh process, warm file cache"}
    return Row("import_ms", "ms", config, _runs(IMPORT, settings))


@figure("make_ms")
def make_ms(settings: Settings) -> Row:
    config = {"work": "the first gymnasium.make of mvsim/NavArena-v0 in a fresh process, warm file cache"}
    return Row("make_ms", "ms", config, _runs(MAKE, settings))


@figure("reset_us")
def reset_us(settings: Settings) -> Row:
    config = {"work": "unseeded reset of mvsim/NavArena-v0, mean of 2000"}
    return Row("reset_us", "us", config, _runs(RESET, settings))
