"""Resident bytes that one more env costs: 1,024 envs of task A less one env, each in a fresh process."""

from __future__ import annotations

from figure import WORLDS, Row, Settings, figure, in_fresh_process

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
    def resident(num_envs: int) -> int:
        return in_fresh_process(CODE.replace("NUM_ENVS", str(num_envs)))

    runs = [(resident(SIZE) - resident(1)) / (SIZE - 1) for _ in range(settings.runs)]
    config = {"work": "task A after 5 steps, resident memory of 1,024 envs less that of 1", "num_envs": SIZE}
    return Row("bytes_per_env", "bytes", config, runs)
