"""Writes a page for each registered environment into docs/environments/: `./dev site` runs it.

Each fact comes from the Gymnasium registry, the spaces, the environment file or benchmarks/results/baselines.json.
Git ignores the folder, so a new environment needs no line here.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import baseline_tables
import gymnasium as gym
import numpy as np
import numpy.typing as npt
from PIL import Image

import mvsim_gym
from mvsim_gym.registration import listing

DOCS = Path(__file__).resolve().parent
PAGES = DOCS / "environments"
sys.path.append(str(DOCS.parent / "examples"))

from baselines import policies  # noqa: E402 (found by the line above)

# Animations: pixels a side, frames, seconds of the film, and the most bytes of a file.
SIDE, FRAMES, LENGTH, MOST_BYTES = 280, 45, 6.0, 400_000

ROBOT_VECTOR = "in the frame of the robot"
# Class of an observation -> the unit of each component, and the meaning in a few words.
OBSERVATIONS = {
    "scan": ("m", "nearest range in each sector of the lidar"),
    "goal": ("m, 1, 1", "distance to the goal, cosine and sine of its direction " + ROBOT_VECTOR),
    "goal_heading": ("1", "cosine and sine of the heading of the goal " + ROBOT_VECTOR),
    "waypoint": ("m, m", "a point ahead on the shortest path to the goal, " + ROBOT_VECTOR),
    "velocity": ("m/s, rad/s", "forward and turning speed"),
    "velocity lateral": ("m/s, m/s, rad/s", "forward, lateral and turning speed"),
    "last_action": ("1", "the action of the step before, as applied"),
    "steer": ("rad", "steering angle"),
    "wheels": ("1", "slip ratio of each wheel"),
    "wheels spin": ("rad/s", "speed of each wheel"),
    "neighbours": ("m, m, m/s, m/s, m, 1", "position, velocity and radius of the nearest others, and 1"),
    "centreline": ("m, m", "points of the centreline ahead, " + ROBOT_VECTOR),
    "track_error": ("m, rad, 1/m", "offset from the centreline, heading relative to it, curvatures ahead"),
    "opponent": (
        "m, m, m/s, 1",
        "position and relative speed of the nearest opponent, and 1 if it is in sight",
    ),
    "odometry": ("m, m, 1, 1", "x, y, cosine and sine of yaw since the start, by odometry"),
    "attitude": ("rad, rad", "pitch and roll"),
    "height_scan": ("m", "heights of the ground around, over that under the robot"),
    "gnss": ("m, m, m, 1", "east, north, up, and 1 with a fix"),
    "imu": ("rad/s, m/s², 1", "angular velocity, proper acceleration and orientation"),
    "image": ("colour", "colour image, rows x columns x 3"),
    "depth": ("m", "depth image, rows x columns"),
    "range_image": ("m", "ranges of a 3D lidar, rings x columns"),
    "dock": ("m, m, 1, 1", "position in the frame of the dock, cosine and sine of the heading there"),
    "dock place": ("m, m", "position in the frame of the dock"),
    "hitch": ("1, 1", "cosine and sine of the heading of the trailer relative to the robot"),
    "row_error": ("m, rad", "offset from the path through the rows and heading relative to it"),
    "row_parity": ("1", "0 or 1 in turn for each alley"),
    "row_index": ("1", "number of the alley"),
}
ACTION_UNITS = {"vx": "m/s", "omega": "rad/s", "steer": "rad", "torque": "N m", "throttle": "1", "brake": "1"}
ACTIONS = {
    "twist": "speed and turn rate",
    "speed_steer": "speed and steering angle",
    "steer_torque": "motor torque and steering angle",
    "wheel_torque": "motor torque of each wheel",
    "throttle_brake": "pedals and steering angle",
}
TERM_PAGE = "../env-tasks.md"


def stem_of(id: str) -> str:
    """NavArena of mvsim/NavArena-v0."""
    return id.partition("/")[2].partition("-v")[0]


def comment_of(path: Path) -> list[str]:
    """The paragraphs of the file's first comment, as sentences, and the one of the knobs apart."""
    found = re.search(r"<!--\s*(.*?)\s*-->", path.read_text(), re.DOTALL)
    text = " ".join(found[1].split()) if found else ""
    task, _, knobs = text.partition("Knobs: ")
    return [task.strip(), knobs.strip().rstrip(".")]


def number(value: float) -> str:
    return f"{value:.4g}"


def bounds(space: gym.spaces.Box) -> str:
    """`0 to 3.5`, or one range for each component where these differ and are few."""
    pairs = list(zip(np.ravel(space.low).tolist(), np.ravel(space.high).tolist(), strict=True))
    texts = list(dict.fromkeys(f"{number(low)} to {number(high)}" for low, high in pairs))
    return texts[0] if len(texts) == 1 else "; ".join(texts)


def key_of(element: ET.Element) -> str:
    return element.get("name", element.attrib["class"])


def observation_rows(root: ET.Element, spaces: dict[str, gym.spaces.Box]) -> list[list[str]]:
    by_key = {key_of(element): element for element in root.iter("observe")}
    rows = []
    for key, space in spaces.items():
        element = by_key.get(key)
        kind = element.attrib["class"] if element is not None else key
        variant = ""
        if element is not None:
            variant = "lateral" if element.get("lateral") == "true" else element.get("values", "")
            variant = "place" if element.get("heading") == "false" else variant
        unit, meaning = OBSERVATIONS.get(f"{kind} {variant}", OBSERVATIONS[kind])
        history = int(element.get("history", "1")) if element is not None else 1
        if history > 1:
            changes = element is not None and element.get("changes") == "true"
            meaning += f"; {history} frames" + (", the second as change" if changes else "")
        shape = " x ".join(map(str, space.shape))
        rows.append([f"`{key}`", shape, f"{space.dtype}", unit, bounds(space), meaning])
    return rows


def action_rows(envs: Any) -> list[list[str]]:
    names = getattr(envs, "action_names", None)
    low, high = np.ravel(envs.action_low), np.ravel(envs.action_high)
    rows = []
    for index, (least, most) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        name = str(names[index]) if names else str(index)
        rows.append([str(index), f"`{name}`", unit_of(name), number(least), number(most)])
    return rows


def unit_of(name: str) -> str:
    """The unit of an action by its name, such as `torque_fl` or `vx`."""
    return next((unit for start, unit in ACTION_UNITS.items() if name.startswith(start)), "N m")


def attributes(element: ET.Element, without: tuple[str, ...]) -> str:
    shown = [f'`{name}="{value}"`' for name, value in element.attrib.items() if name not in without]
    return ", ".join(shown)


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows)]
    return "\n".join(lines)


def knob_rows(root: ET.Element, text: str) -> list[list[str]]:
    """Name, default, and the words of the comment; "name (words)" is how the files write it."""
    words = dict(re.findall(r"(\w+) \(([^()]*(?:\([^()]*\)[^()]*)*)\)", text))
    return [
        [f"`{knob.attrib['name']}`", f"`{knob.attrib['value']}`", words.get(knob.attrib["name"], "")]
        for knob in root.iter("knob")
    ]


def score_rows(found: dict[str, Any]) -> list[list[str]]:
    learned = {"PPO": found["learned"]} if found["learned"] else {}
    rows = []
    for name, row in {**found["policies"], **learned}.items():
        rows.append(
            [
                name,
                baseline_tables.percent(row["success"]),
                baseline_tables.number(row.get("time"), 1),
                baseline_tables.number(row.get("return"), 2),
            ]
        )
    return rows


def agents_of(id: str) -> int:
    return int(baseline_tables.TEAMS.get(id, 1))


def picture_of(id: str) -> npt.NDArray[np.uint8]:
    """One frame after ten random steps; the seed is fixed, so that a page changes only with its environment."""
    agents = agents_of(id)
    if agents > 1:
        envs = mvsim_gym.VectorEnv(id, num_envs=agents, render_mode="rgb_array")
        envs.reset(seed=3)
        envs.action_space.seed(3)
        for _ in range(10):
            envs.step(envs.action_space.sample())
        frame = envs.render()
        frame = frame[0] if isinstance(frame, list | tuple) else frame
        envs.close()
        return np.asarray(frame, np.uint8)
    env = gym.make(id, render_mode="rgb_array")
    env.reset(seed=3)
    env.action_space.seed(3)
    for _ in range(10):
        env.step(env.action_space.sample())
    frame = np.asarray(env.render(), np.uint8)
    env.close()
    return frame


def driven(id: str) -> Iterator[mvsim_gym.VectorEnv]:
    """Drives an episode by the first script of the environment, and yields the envs after each step."""
    envs = mvsim_gym.VectorEnv(
        id,
        num_envs=agents_of(id),
        autoreset_mode="Disabled",
        render_mode="rgb_array",
        width=SIDE,
        height=SIDE,
    )
    drive = next(iter(policies(id).values()))
    observations, _ = envs.reset(seed=3)
    yield envs
    while envs.alive.any():
        observations, *_ = envs.step(drive(observations))
        yield envs
    envs.close()


def film_of(id: str) -> tuple[list[Image.Image], float]:
    """Returns frames of an episode, at equal intervals, and its length in seconds."""
    steps = sum(1 for _ in driven(id))
    shown = set(np.linspace(0, steps - 1, min(steps, FRAMES)).round().astype(int).tolist())
    frames = []
    for step, envs in enumerate(driven(id)):
        if step in shown:
            frames.append(Image.fromarray(np.asarray(envs.render())[0]))
        period = envs.control_period
    return frames, (steps - 1) * period


def save_film(path: Path, frames: list[Image.Image]) -> None:
    """Writes an animated WebP of at most MOST_BYTES: first in good quality, then in lower ones.

    Raises:
        ValueError: the file is too large in the lowest one as well.
    """
    for quality in (70, 45, 20):
        frames[0].save(
            path,
            save_all=True,
            append_images=frames[1:],
            duration=round(1000 * LENGTH / FRAMES),
            loop=0,
            quality=quality,
        )
        if path.stat().st_size <= MOST_BYTES:
            return
    raise ValueError(f"{path}: found {path.stat().st_size} bytes, expected at most {MOST_BYTES}")


def page_of(id: str, found: dict[str, Any], seconds: float | None) -> str:
    """The page. `seconds` is the length of the episode in the animation; None: without pictures."""
    path, stem, agents = Path(listing()[id]), stem_of(id), agents_of(id)
    root = ET.parse(path).getroot()
    task, knob_text = comment_of(path)
    envs = mvsim_gym.VectorEnv(id, num_envs=agents)
    action = next(root.iter("action"))
    period, limit = float(root.attrib["control_period"]), float(root.get("time_limit", "0"))
    make = f'gym.make("{id}")' if agents == 1 else f'gym.make_vec("{id}", num_envs={agents})'
    knobs = knob_rows(root, knob_text)
    lines = [f"# {stem}", "", f"After reading this page you know the arrays, rewards and ends of `{id}`.", ""]
    if seconds is not None:
        lines += [f"![{stem} after ten random steps]({stem}.png){{width=350px}}"]
        script = next(iter(policies(id)))
        film = f"An episode of {seconds:.0f} s, driven by the script {script}"
        lines += [f"![{film}]({stem}.webp){{width=350px}}", ""]
    lines += [task, "", "```python", "import gymnasium as gym", "import mvsim_gym", "", f"env = {make}"]
    lines += ["observation, info = env.reset(seed=0)", "env.close()", "```", ""]
    facts = [
        ["control period", f"{number(period)} s ({number(1 / period)} Hz)"],
        ["time limit", f"{number(limit)} s ({round(limit / period)} steps)" if limit else "none"],
        ["environment file", f"`envs/{path.name}`"],
        ["world file", f"`worlds/{Path(root.attrib['world']).name}`"],
    ]
    if agents > 1:
        facts.append(["agents", f"{agents}, a row of the arrays for each"])
    lines += [table(["fact", "value"], facts), "", "## Observations", ""]
    heads = ["key", "shape", "type", "unit", "bounds", "meaning"]
    lines += [table(heads, observation_rows(root, envs.single_observation_space.spaces)), ""]
    lines += [
        "## Actions",
        "",
        f"The action is {ACTIONS[action.attrib['class']]}: a float32 vector in [-1, 1].",
    ]
    lines += ["The table has the physical value at -1 and at 1.", ""]
    lines += [table(["index", "name", "unit", "at -1", "at 1"], action_rows(envs)), ""]
    rates = [f"at most {value} deg/s" for key, value in action.attrib.items() if key == "steer_rate"]
    if rates:
        lines += [f"The steering angle changes by {rates[0]}.", ""]
    lines += ["## Rewards", "", f"[Rewards and ends]({TERM_PAGE}) says how each term is computed.", ""]
    rewards = [
        [f"`{key_of(term)}`", term.get("weight", "1"), attributes(term, ("class", "weight", "name"))]
        for term in root.iter("reward")
    ]
    lines += [table(["term", "weight", "attributes"], rewards), "", "## Ends", ""]
    ends = [[f"`{key_of(term)}`", attributes(term, ("class", "name"))] for term in root.iter("terminate")]
    lines += [table(["termination", "attributes"], ends), ""]
    if limit:
        lines += [f"An episode that lasts {number(limit)} s is truncated.", ""]
    if knobs:
        lines += [
            "## Knobs",
            "",
            "Each is a keyword of `gym.make`. `set_knobs` changes those that leave the arrays as they are.",
            "",
        ]
        lines += [table(["knob", "default", "meaning"], knobs), ""]
    draws = [[f"`{term.get('of', 'level')}`", attributes(term, ("of",))] for term in root.iter("randomize")]
    if draws:
        lines += ["## Drawn in each episode", "", table(["parameter", "distribution"], draws), ""]
    lines += [f"`mvsim-gym parameters {id}` lists all parameters that can be randomised.", ""]
    lines += ["## Scores", "", "[Baselines](../baselines.md) says how these are measured.", ""]
    lines += [table(["policy", "success", "time (s)", "return"], score_rows(found)), ""]
    lines += ["## Environment file", "", "```xml no-run", path.read_text().strip(), "```", ""]
    envs.close()
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--no-pictures", action="store_true", help="leave pictures and animations out")
    with_pictures = not parser.parse_args().no_pictures
    shutil.rmtree(PAGES, ignore_errors=True)
    PAGES.mkdir()
    for id, found in baseline_tables.results().items():
        seconds = None
        if with_pictures:
            Image.fromarray(picture_of(id)).save(PAGES / f"{stem_of(id)}.png", optimize=True)
            frames, seconds = film_of(id)
            save_film(PAGES / f"{stem_of(id)}.webp", frames)
        (PAGES / f"{stem_of(id)}.md").write_text(page_of(id, found, seconds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
