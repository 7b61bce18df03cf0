"""Steps of 10 ms per second of one robot without a sensor, on one thread, through `World.step`."""

from __future__ import annotations

import mvsim_gym
from figure import WORLDS, Row, Settings, figure, rates


@figure("physics_only")
def physics_only(settings: Settings) -> Row:
    world = mvsim_gym.World(str(WORLDS / "physics_only.world.xml"), seed=0)
    robot = world.vehicles["robot"]
    speeds = [(0.2, 0.5), (0.1, -1.0), (-0.2, 1.5), (0.15, 0.0)]
    count, steps = 0, 1000

    def advance() -> int:
        nonlocal count
        robot.set_twist(*speeds[count % len(speeds)])
        world.step(steps * 0.01)
        count += 1
        return steps

    config = {
        "work": "1 robot with wheel friction and twist_pid, no sensor, steps of 10 ms",
        "num_threads": 1,
    }
    return Row("physics_only", "steps/s", config, rates(advance, settings))
