"""Steps of 10 ms per second without a sensor, on one thread: one robot and a hundred through `World.step`, and one
of every dynamics class with every tire model (the C++ program steps measures those)."""

from __future__ import annotations

import mvsim_gym
from figure import WORLDS, Row, Settings, figure, rates
from figures.programs import printed


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


def _hundred(name: str, work: str, period: float, settings: Settings) -> Row:
    """Steps of 10 ms of the whole world; each robot drives a circle of its own, ten by ten of them, 2 m apart."""
    world = mvsim_gym.World(str(WORLDS / f"{name}.world.xml"), seed=0)
    for i, robot in enumerate(world.vehicles.values()):
        robot.set_twist(0.15 + 0.0005 * i, 0.5)

    def advance() -> int:
        world.step(period)
        return round(100 * period)

    return Row(name, "world steps/s", {"work": work, "num_threads": 1}, rates(advance, settings))


@figure("robots100")
def robots100(settings: Settings) -> Row:
    work = "100 robots with wheel friction and twist_pid in one world, steps of 10 ms"
    return _hundred("robots100", work, 0.5, settings)


@figure("robots100_lidar")
def robots100_lidar(settings: Settings) -> Row:
    work = "robots100, each with a scan of 36 rays of 5 m every 0.1 s"
    return _hundred("robots100_lidar", work, 0.1, settings)


def _leaning(name: str, what: str, settings: Settings) -> Row:
    """Against what stands before the robot; Box2D's continuous collision is on, as always but at grids."""
    world = mvsim_gym.World(str(WORLDS / f"{name}_contact.world.xml"), seed=0)
    robot = world.vehicles["robot"]
    turns, count = (0.1, -0.1, 0.3, -0.3), 0

    def advance() -> int:
        nonlocal count
        robot.set_twist(0.2, turns[count % len(turns)])
        world.step(1)
        count += 1
        return 100

    advance()
    config = {"work": f"1 robot with wheel friction that leans on {what}, steps of 10 ms", "num_threads": 1}
    return Row(f"{name}_contact", "steps/s", config, rates(advance, settings))


@figure("wall_contact")
def wall_contact(settings: Settings) -> Row:
    return _leaning("wall", "a wall", settings)


@figure("block_contact")
def block_contact(settings: Settings) -> Row:
    return _leaning("block", "a block of 200 kg", settings)


@figure("steps")
def steps(settings: Settings) -> list[Row]:
    """`steps_<dynamics>_<tire>` on flat ground, `steps_terrain_<dynamics>_<tire>` on hills."""
    config = {"work": "1 vehicle that touches nothing, no sensor, steps of 10 ms", "num_threads": 1}
    return [
        Row(name, unit, config, runs) for name, (unit, runs) in printed("steps", "", settings.runs).items()
    ]
