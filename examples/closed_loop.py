"""The closed loop over ROS 2: `mvsim-gym drive` drives the robots of another process to goals, or a car around a track.

    python examples/ppo.py --out policy.pt
    mvsim-gym export policy.pt --env mvsim/NavArena-v0 -o policy/
    python examples/closed_loop.py policy/ --goals 100
    python examples/closed_loop.py policy/ --goals 100 --randomize standard --delay 0.05
    python examples/closed_loop.py maze/ --env NavMap --goals 30 --localization-error "jump_rate=0.3 jump_sigma=0.05"
    python examples/closed_loop.py policy/ --goals 100 --via rclpy -- --localization pose

Each goal is an episode of a held-out seed: its obstacles, its start, its goal and, with `--randomize`, its robot. Two
processes run it in real time: the loop of `mvsim-gym ros`, and `mvsim-gym drive`. MultiNav has a `drive` for each of
its four robots, so an episode has four goals. A goal counts as reached if `drive` says so within the time of an episode
and the robot has touched nothing. In Race a lap counts instead, and the car starts at rest.
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
from copy import deepcopy
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TextIO

import numpy as np

import mvsim_gym
from mvsim_gym.ros import Network, RosNode, open_transport
from mvsim_gym.ros.services import Answer, Service
from mvsim_gym.ros.topics import Topic
from mvsim_gym.ros.transport import Publisher, Transport
from mvsim_gym.tools.launch import launch
from mvsim_gym.tools.parameters import parameters_of
from mvsim_gym.tools.policy import agents_of

WORLDS = Path(__file__).resolve().parents[1] / "worlds"
HELD_OUT = 1_000_000  # the first seed that no training uses
WAIT = 2.0  # s until the first messages have come
END = 60.0  # s that the end of a process may take
NOT_IN_WORLDS = ("/action/", "/push/", "/delay", "/dropout")
"""Parameters that a `World` does not apply: delays are those of `--delay`, noise and pushes are left out."""


class Setup(NamedTuple):
    """How an environment is driven."""

    world: str
    options: str
    """of `mvsim-gym drive`; NAMESPACE is that of the robot"""
    centreline: str = ""
    """of the track, if laps are driven"""


SETUPS = {
    "NavArena": Setup("nav_arena", "--robot turtlebot3_burger --scan NAMESPACE/lidar"),
    "DepthNavigation": Setup(
        "depth_navigation", "--robot turtlebot3_burger --depth NAMESPACE/camera_depth/image_raw"
    ),
    "MultiNav": Setup("multi_nav", "--scan NAMESPACE/lidar --max-speed 0.5"),
    "NavMap": Setup("nav_map", "--robot jackal --scan NAMESPACE/lidar --odom NAMESPACE/odom"),
    "Race": Setup(
        "race", "--robot f1tenth --scan NAMESPACE/lidar --cmd NAMESPACE/ackermann_cmd", "tracks/loop.csv"
    ),
}


class Net(NamedTuple):
    """How the processes of an episode are connected."""

    domain: int
    via: str
    delay: float
    """of the commands, s"""
    errors: str
    """of the localization"""


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


def episodes(env: str, seeds: range, folder: Path, **keywords: Any) -> Iterator[dict[str, Any]]:
    """Yields world file, parameters, time limit (s), and start and goal of each robot, of each episode."""
    name = f"mvsim/{env}-v0"
    source = WORLDS / f"{SETUPS[env].world}.world.xml"
    envs = mvsim_gym.VectorEnv(name, num_envs=agents_of(name, keywords), **keywords)
    paths = [p.path for p in parameters_of(name) if p.path.startswith("vehicle:")]
    paths = [path for path in paths if not any(part in path for part in NOT_IN_WORLDS)]
    plain = mvsim_gym.World(source)
    robots = list(plain.vehicles)
    known = {path: plain.parameter(path) for path in paths}
    for number, seed in enumerate(seeds):
        seen, _ = envs.reset(seed=seed)
        world, tree = source, ET.parse(source)
        loop = _obstacles_of(tree.getroot())
        if loop is not None:
            poses, scales = envs.read("block:obstacle*/pose")[0], envs.read("block:obstacle*/scale")[0]
            _place(tree.getroot(), loop, poses, scales)
            world = folder / f"{number}.world.xml"
            tree.write(world)
        starts = {robot: envs.read(f"vehicle:{robot}/pose")[0].tolist() for robot in robots}
        drawn = {path: float(envs.read(path)[0]) for path in paths}
        yield {
            "world": str(world),
            "seed": seed,
            "parameters": {path: value for path, value in drawn.items() if value != known[path]},
            "starts": starts,
            "goals": {robot: _goal_of(envs, seen, row, starts[robot]) for row, robot in enumerate(robots)},
            "time_limit": envs.time_limit,
            "track": SETUPS[env].centreline,
        }
    envs.close()


def _goal_of(envs: mvsim_gym.VectorEnv, seen: Any, row: int, pose: list[float]) -> list[float] | None:
    """Returns the goal of a robot, m; None without goals. `seen` has its distance and its direction from the robot."""
    if "goal" not in seen:
        return None
    if len(seen["goal"]) == 1:
        goal: list[float] = envs.read("goal")[0].tolist()
        return goal
    distance, c, s = map(float, seen["goal"][row])
    angle = pose[2] + math.atan2(s, c)
    return [pose[0] + distance * math.cos(angle), pose[1] + distance * math.sin(angle)]


def _obstacles_of(root: ET.Element) -> ET.Element | None:
    """Returns the loop that makes the obstacles of a world; None if it has none."""
    for loop in root.iter("for"):
        block = loop.find("block")
        if block is not None and block.get("name", "").startswith("obstacle"):
            return loop
    return None


def _place(root: ET.Element, loop: ET.Element, poses: Any, scales: Any) -> None:
    """Replaces the loop by obstacles at these poses, with these sizes."""
    (template,) = loop
    root.remove(loop)
    for number, (pose, scale) in enumerate(zip(poses, scales, strict=True)):
        block = deepcopy(template)
        block.set("name", f"obstacle{number + 1}")
        place, shape = block.find("init_pose"), block.find("geometry")
        assert place is not None and shape is not None
        place.text = f"{pose[0]} {pose[1]} {math.degrees(pose[2])}"
        for size in {"radius", "lx", "ly"} & set(shape.keys()):
            shape.set(size, str(float(shape.get(size, "")) * scale))
        root.append(block)


class Laps(RosNode):
    """The node of a world with one car, which ends after a lap around a closed track."""

    def __init__(self, world: mvsim_gym.World, transport: Transport, track: Path, **options: Any) -> None:
        self._points = np.loadtxt(track, comments="#")
        (self._car,) = world.vehicles.values()
        self._at, self._passed = self._nearest(), 0  # points of the centreline
        super().__init__(world, transport, **options)

    def _nearest(self) -> int:
        away = self._points - np.array(self._car.pose[:2])
        return int(np.argmin(np.hypot(*away.T)))

    @property
    def is_ended(self) -> bool:
        """Whether the lap is complete."""
        return self._passed >= len(self._points)

    def update(self) -> None:
        """As `RosNode.update`."""
        super().update()
        count, at = len(self._points), self._nearest()
        self._passed += (at - self._at + count // 2) % count - count // 2
        self._at = at


@contextmanager
def robot_node(
    world: mvsim_gym.World, say: TextIO, *, episode: dict[str, Any], network: Net
) -> Iterator[RosNode]:
    """Yields the node of a world, and prints at its end which robots have touched something."""
    for path, value in episode["parameters"].items():
        world.set_parameter(path, value)
    for robot, pose in episode["starts"].items():
        world.vehicles[robot].set_pose(*pose)
    transport: Transport = Delayed(open_transport(Network(network.domain), network.via), network.delay)
    track = episode["track"]
    errors = {"localization_error": network.errors, "seed": episode["seed"]}
    with (
        Laps(world, transport, WORLDS / track, **errors)
        if track
        else RosNode(world, transport, **errors) as node
    ):
        print("ready", flush=True)
        yield node
        ended = {
            "collisions": [robot for robot, each in world.vehicles.items() if each.had_collision],
            "lap": node.is_ended,
        }
    print(json.dumps(ended), flush=True)


def play_robot(episode: dict[str, Any], *network: Any) -> None:
    """Simulates the robots of an episode until SIGTERM or a lap. It runs in a process of its own."""
    node = partial(robot_node, episode=episode, network=Net(*network))
    launch(episode["world"], nodes=[node])


def drive_to(
    episode: dict[str, Any], env: str, policy: str, network: Net, further: list[str]
) -> list[tuple[str, str]]:
    """Runs the processes of an episode. Returns the end of each robot and the last line of its `drive`."""
    code = f"import closed_loop; closed_loop.play_robot({episode!r}, *{tuple(network)!r})"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)]),
    }
    setup, pipe = SETUPS[env], subprocess.PIPE
    robots = subprocess.Popen([sys.executable, "-c", code], stdout=pipe, text=True, env=environment)
    drives: dict[str, subprocess.Popen[str]] = {}
    try:
        assert robots.stdout is not None
        if robots.stdout.readline() != "ready\n":
            raise RuntimeError("the robot's process did not begin")
        for robot, goal in episode["goals"].items():
            namespace = f"/{robot}" if len(episode["goals"]) > 1 else ""
            call = [
                sys.executable,
                "-m",
                "mvsim_gym",
                "drive",
                policy,
                *setup.options.replace("NAMESPACE", namespace).split(),
            ]
            call += [] if goal is None else ["--goal", *map(repr, goal)]
            call += ["--via", network.via, "--domain", str(network.domain), "--namespace", namespace]
            call += ["--duration", str(episode["time_limit"] + WAIT), *further]
            drives[robot] = subprocess.Popen(call, stdout=pipe, stderr=pipe, text=True, env=environment)
        while robots.poll() is None and any(each.poll() is None for each in drives.values()):
            time.sleep(0.05)
        for each in (*drives.values(), robots):
            each.terminate()
        said = {robot: each.communicate(timeout=END) for robot, each in drives.items()}
        lines = robots.communicate(timeout=END)[0].splitlines()
    except subprocess.TimeoutExpired:
        return [("no end", "a process did not end")] * len(episode["goals"])
    finally:
        for each in (*drives.values(), robots):
            each.kill()
    ended = json.loads(lines[-1])
    return [
        (
            _end_of(robot, drives[robot].returncode, ended, is_lap=bool(setup.centreline)),
            out.splitlines()[-1] if out else error[-500:],
        )
        for robot, (out, error) in said.items()
    ]


def _end_of(robot: str, code: int, ended: dict[str, Any], *, is_lap: bool) -> str:
    if robot in ended["collisions"]:
        return "collision"
    return "goal" if (ended["lap"] if is_lap else code == 0) else "timeout"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("policy", help="a folder of `mvsim-gym export`")
    parser.add_argument(
        "--env", choices=tuple(SETUPS), default="NavArena", help="the environment of the policy"
    )
    parser.add_argument("--goals", type=int, default=100, help="at least; episodes are complete")
    parser.add_argument("--seed", type=int, default=HELD_OUT, help="of the first goal; the others follow it")
    parser.add_argument("--jobs", type=int, default=1, help="robots at a time")
    parser.add_argument("--randomize", choices=("none", "standard", "strong"), default="none")
    parser.add_argument("--delay", type=float, default=0.0, help="of the commands, s")
    parser.add_argument(
        "--localization-error",
        default="",
        metavar="ERRORS",
        help="as for `mvsim-gym ros`; its seed is the goal's",
    )
    parser.add_argument("--via", choices=("cyclonedds", "rclpy"), default="cyclonedds")
    parser.add_argument("--domain", type=int, default=80, help="of ROS 2; that of the first job")
    parser.epilog = "Options after -- are further ones of `mvsim-gym drive`."
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options, further = parser.parse_args(sys.argv[1:cut]), sys.argv[cut + 1 :]
    domains = list(range(options.domain, options.domain + options.jobs))
    ends: Counter[str] = Counter()
    stops: Counter[str] = Counter()
    limited: Counter[str] = Counter()

    def one(numbered: tuple[int, dict[str, Any]]) -> None:
        number, episode = numbered
        domain = domains.pop()
        try:
            network = Net(domain, options.via, options.delay, options.localization_error)
            found = drive_to(episode, options.env, options.policy, network, further)
        finally:
            domains.append(domain)
        for end, said in found:
            ends[end] += 1
            for counts, text in zip((stops, limited), re.findall(r"\{.*?\}", said), strict=False):
                counts.update({name: int(count) for name, count in re.findall(r"'(\w+)': (\d+)", text)})
            print(f"{number:4} {end:10} {said}", flush=True)

    with TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        robots = agents_of(f"mvsim/{options.env}-v0", {})
        seeds = range(options.seed, options.seed + math.ceil(options.goals / robots))
        drawn = list(episodes(options.env, seeds, Path(folder), randomize=options.randomize))
        list(pool.map(one, enumerate(drawn)))
    count = sum(ends.values())
    print(
        f"{ends['goal']} of {count} goals ({100 * ends['goal'] / count:.1f} %); {dict(ends)};"
        f" stopped periods: {dict(stops)}; limited: {dict(limited)}"
    )


if __name__ == "__main__":
    main()
