"""Resident bytes that one more env costs, and bytes that a step of it brings into the cache of a core."""

from __future__ import annotations

import re
import subprocess
from tempfile import TemporaryDirectory

from figure import ROOT, WORLDS, Row, Settings, figure, in_fresh_process
from figures.programs import FOLDER

SIZE = 1024
CODE = f"""
import gymnasium, mvsim_gym, numpy
path = {str(WORLDS / "task_a.env.xml")!r}
env = gymnasium.make_vec("mvsim/Custom-v0", env=path, num_envs=NUM_ENVS, num_threads=2)
env.reset(seed=0)
actions = numpy.zeros(env.action_space.shape, numpy.float32)
for _ in range(5):
    env.step(actions)
with open("/proc/self/status") as status:
    print([int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS")][0])
"""


@figure("bytes_per_env")
def bytes_per_env(settings: Settings) -> Row:
    """1,024 envs of task A less one env, each in a fresh process."""

    def resident(num_envs: int) -> int:
        return in_fresh_process(CODE.replace("NUM_ENVS", str(num_envs)))

    runs = [(resident(SIZE) - resident(1)) / (SIZE - 1) for _ in range(settings.runs)]
    config = {"work": "task A after 5 steps, resident memory of 1,024 envs less that of 1", "num_envs": SIZE}
    return Row("bytes_per_env", "bytes", config, runs)


LINE = 64  # bytes
SECOND_LEVEL = 1 << 20  # bytes; the first level is that of this processor
STEPS = (20, 60)  # of 64 envs; the difference leaves out loading and the first reset


def _lines_missed(steps: int) -> tuple[int, int]:
    """Lines that `profile --steps` reads or writes and does not find in a core's first level of cache, and those that
    it finds in neither level, as valgrind simulates them."""
    with TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--cache-sim=yes", f"--LL={SECOND_LEVEL},16,{LINE}"]
        command += [f"--callgrind-out-file={folder}/out", str(FOLDER / "profile"), "--steps"]
        command += ["benchmarks/worlds/task_a.env.xml", str(steps)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    found = [re.search(rf"{level}\s+misses:\s+([\d,]+)", done.stderr) for level in ("D1", "LLd")]
    assert all(found), done.stderr
    first, second = (int(match[1].replace(",", "")) for match in found if match)
    return first, second


@figure("bytes_touched_per_step")
def bytes_touched_per_step(settings: Settings) -> list[Row]:
    """Bytes that an env step of task A brings into the first level of cache, and those from beyond the second one."""
    few, many = map(_lines_missed, STEPS)
    config = {"work": "task A, 64 envs that take turns on one core; data alone, simulated", "num_envs": 64}
    beyond = {**config, "second_level": SECOND_LEVEL}
    first, second = (LINE * (b - a) / (64 * (STEPS[1] - STEPS[0])) for a, b in zip(few, many, strict=True))
    return [
        Row("bytes_touched_per_step", "bytes", config, [first]),
        Row("bytes_from_memory_per_step", "bytes", beyond, [second]),
    ]
