"""The closed loop over ROS 2: `mvsim-gym drive` drives the robot of another process to goals in NavArena.

    python examples/ppo.py --out policy.pt
    mvsim-gym export policy.pt --env mvsim/NavArena-v0 -o policy/
    python examples/closed_loop.py policy/ --goals 100
    python examples/closed_loop.py policy/ --goals 100 --randomize standard --delay 0.05

Each goal is an episode of a held-out seed: its cylinders, its start, its goal and, with `--randomize`, its robot. Two
processes run it in real time: the loop of `mvsim-gym ros`, and `mvsim-gym drive`. A goal counts as reached if `drive`
says so within the time of an episode and the robot has touched nothing.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

import mvsim_gym
from mvsim_gym.ros import Network, RosNode, open_transport
from mvsim_gym.ros.services import Answer, Service
from mvsim_gym.ros.topics import Topic
from mvsim_gym.ros.transport import Publisher, Transport
from mvsim_gym.tools.launch import launch
from mvsim_gym.tools.parameters import parameters_of

ENV, ROBOT = "mvsim/NavArena-v0", "robot"
WORLD = Path(__file__).resolve().parents[1] / "worlds" / "nav_arena.world.xml"
HELD_OUT = 1_000_000  # the first seed that no training uses
TIME_LIMIT = 50.0  # s, of the environment
WAIT = 2.0  # s until the first messages have come
NOT_IN_WORLDS = ("/action/", "/push/", "/delay", "/dropout")
"""Parameters that a `World` does not apply: delays are those of `--delay`, noise and pushes are left out."""
Result = dict[str, Any]


class Delayed(Transport):
    """A transport whose messages are received `delay` seconds late."""

    def __init__(self, inner: Transport, delay: float) -> None:
        self.name = inner.name
        self._inner, self._delay = inner, delay
        self._waiting: deque[tuple[float, Callable[[bytes], None], bytes]] = deque()

    def publisher(self, topic: Topic) -> Publisher:
        return self._inner.publisher(topic)

    def subscribe(self, topic: Topic, receive: Callable[[bytes], None]) -> None:
        self._inner.subscribe(
            topic, lambda data: self._waiting.append((time.monotonic() + self._delay, receive, data))
        )

    def serve(self, service: Service, answer: Answer) -> None:
        self._inner.serve(service, answer)

    def work(self) -> None:
        self._inner.work()
        while self._waiting and self._waiting[0][0] <= time.monotonic():
            _, receive, data = self._waiting.popleft()
            receive(data)

    def close(self) -> None:
        self._inner.close()


def episodes(seeds: range, folder: Path, **keywords: Any) -> Iterator[dict[str, Any]]:
    """Yields goal, world file and parameters of each episode."""
    envs = mvsim_gym.VectorEnv(ENV, num_envs=1, **keywords)
    paths = [p.path for p in parameters_of(ENV) if p.path.startswith("vehicle:")]
    paths = [path for path in paths if not any(part in path for part in NOT_IN_WORLDS)]
    for number, seed in enumerate(seeds):
        envs.reset(seed=seed)
        tree = ET.parse(WORLD)
        root = tree.getroot()
        loop = root.find("for")
        assert loop is not None
        root.remove(loop)
        for pose, scale in zip(
            envs.read("block:obstacle*/pose")[0], envs.read("block:obstacle*/scale")[0], strict=True
        ):
            root.append(_cylinder(len(root), pose, scale))
        start = root.find("vehicle/init_pose")
        assert start is not None
        x, y, yaw = envs.read(f"vehicle:{ROBOT}/pose")[0]
        start.text = f"{x} {y} {math.degrees(yaw)}"
        world = folder / f"{number}.world.xml"
        tree.write(world)
        plain = mvsim_gym.World(world)
        drawn = {path: float(envs.read(path)[0]) for path in paths}
        yield {
            "world": str(world),
            "goal": envs.read("goal")[0].tolist(),
            "parameters": {path: value for path, value in drawn.items() if value != plain.parameter(path)},
        }
    envs.close()


def _cylinder(number: int, pose: Any, scale: float) -> ET.Element:
    """Returns a cylinder of the arena in the world language."""
    block = ET.Element("block", name=f"obstacle{number}")
    for tag, text in (
        ("static", "true"),
        ("zmin", "0"),
        ("zmax", "0.5"),
        ("init_pose", f"{pose[0]} {pose[1]} 0"),
    ):
        ET.SubElement(block, tag).text = text
    ET.SubElement(block, "geometry", type="cylinder", radius=str(0.2 * scale), length="0.5", vertex_count="8")
    return block


@contextmanager
def robot_node(
    world: mvsim_gym.World, say: TextIO, *, parameters: dict[str, float], domain: int, delay: float
) -> Iterator[RosNode]:
    """Yields the node of a world, and prints at its end whether the robot has touched something."""
    for path, value in parameters.items():
        world.set_parameter(path, value)
    transport: Transport = Delayed(open_transport(Network(domain), "cyclonedds"), delay)
    with RosNode(world, transport) as node:
        print("ready", flush=True)
        yield node
    print(json.dumps({"collision": world.vehicles[ROBOT].had_collision}), flush=True)


def play_robot(episode: dict[str, Any], domain: int, delay: float) -> None:
    """Simulates the robot of an episode until SIGTERM. It runs in a process of its own."""
    node = partial(robot_node, parameters=episode["parameters"], domain=domain, delay=delay)
    launch(episode["world"], nodes=[node])


def drive_to(
    episode: dict[str, Any], policy: str, domain: int, delay: float, further: list[str]
) -> tuple[str, str]:
    """Runs the two processes of an episode. Returns its end and the last line of `drive`."""
    code = f"import closed_loop; closed_loop.play_robot({episode!r}, {domain}, {delay})"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)]),
    }
    call = [
        sys.executable,
        "-m",
        "mvsim_gym",
        "drive",
        policy,
        "--robot",
        "turtlebot3_burger",
        "--scan",
        "/lidar",
    ]
    call += ["--goal", *map(repr, episode["goal"]), "--via", "cyclonedds", "--domain", str(domain)]
    call += ["--duration", str(TIME_LIMIT + WAIT), *further]
    robot = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert robot.stdout is not None
        if robot.stdout.readline() != "ready\n":
            raise RuntimeError("the robot's process did not begin")
        drive = subprocess.run(call, capture_output=True, text=True, env=environment, check=False)
        robot.terminate()
        ended = json.loads(robot.communicate(timeout=120)[0].splitlines()[-1])
    finally:
        robot.kill()
    said = drive.stdout.splitlines()[-1] if drive.stdout else drive.stderr[-500:]
    if ended["collision"]:
        return "collision", said
    return ("goal" if drive.returncode == 0 else "timeout"), said


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("policy", help="a folder of `mvsim-gym export`")
    parser.add_argument("--goals", type=int, default=100)
    parser.add_argument("--seed", type=int, default=HELD_OUT, help="of the first goal; the others follow it")
    parser.add_argument("--jobs", type=int, default=1, help="robots at a time")
    parser.add_argument("--randomize", choices=("none", "standard", "strong"), default="none")
    parser.add_argument("--delay", type=float, default=0.0, help="of the commands, s")
    parser.add_argument("--domain", type=int, default=80, help="of ROS 2; that of the first job")
    parser.add_argument("further", nargs="*", help="after --: further options of `mvsim-gym drive`")
    options = parser.parse_args()
    domains = list(range(options.domain, options.domain + options.jobs))
    ends: Counter[str] = Counter()
    stops: Counter[str] = Counter()
    limited: Counter[str] = Counter()

    def one(numbered: tuple[int, dict[str, Any]]) -> None:
        number, episode = numbered
        domain = domains.pop()
        try:
            end, said = drive_to(episode, options.policy, domain, options.delay, options.further)
        finally:
            domains.append(domain)
        ends[end] += 1
        for counts, text in zip((stops, limited), re.findall(r"\{.*?\}", said), strict=False):
            counts.update({name: int(count) for name, count in re.findall(r"'(\w+)': (\d+)", text)})
        print(f"{number:4} {end:10} {said}", flush=True)

    with TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        seeds = range(options.seed, options.seed + options.goals)
        drawn = list(episodes(seeds, Path(folder), randomize=options.randomize))
        list(pool.map(one, enumerate(drawn)))
    count = sum(ends.values())
    print(
        f"{ends['goal']} of {count} goals ({100 * ends['goal'] / count:.1f} %); {dict(ends)};"
        f" stopped periods: {dict(stops)}; limited: {dict(limited)}"
    )


if __name__ == "__main__":
    main()
