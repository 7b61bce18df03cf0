"""Pictures of many scenes, kept by one build and compared with those of another.

    python benchmarks/pictures.py record before.npz [--png FOLDER]
    python benchmarks/pictures.py compare before.npz after.npz

A change of the renderer that should not show keeps every channel of every pixel within 2/255.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import numpy as np
import numpy.typing as npt

import mvsim_gym
from mvsim_gym.registration import listing, load_env

ROOT = Path(__file__).resolve().parents[1]
WIDTH, HEIGHT = 480, 360
TOLERANCE = 2  # of 255

ROBOT = """<vehicle name="{name}"><init_pose>{pose}</init_pose>
  <dynamics class="{dynamics}">{chassis}</dynamics>{more}</vehicle>"""
LIDAR = '<sensor class="laser" name="laser1"><nrays>91</nrays><max_range>8</max_range></sensor>'

# Everything that a picture can show and that the stock worlds have not.
WORLDS = {
    "shapes": """
  <element class="horizontal_plane"><color>#c0d0c0</color></element>
  <element class="horizontal_plane"><x_min>-2</x_min><x_max>2</x_max><y_min>-1</y_min><y_max>1</y_max><z>0.3</z>
    <color>#d0a080</color><init_pose>-5 -5 30</init_pose></element>
  <block name="ramp"><static>true</static><color>#aa8844</color><geometry type="ramp" lx="2" ly="1" lz="0.5"/>
    <init_pose>2 2 25</init_pose></block>
  <block name="bump"><static>true</static><color>#4488aa</color><init_pose>-3 3 -40</init_pose>
    <geometry type="semi_cylinder_bump" lx="2" ly="0.6" lz="0.2"/></block>
  <block name="loose_ramp"><intangible>true</intangible><color>#aa4488</color><init_pose>5 -2 70</init_pose>
    <geometry type="ramp" lx="2" ly="1" lz="0.5"/></block>
  <block name="ball"><color>#20a040</color><geometry type="sphere" radius="0.4"/><init_pose>-4 0 0</init_pose></block>
  <block name="pillar"><static>true</static><color>#804020</color><init_pose>4 4 10</init_pose>
    <geometry type="cylinder" radius="0.5" length="2" vertex_count="9"/></block>
  <block name="glass"><color>#4080ff60</color><init_pose>0 -3 20</init_pose><zmax>1.2</zmax></block>
  <block name="pane"><static>true</static><color>#ff804050</color><init_pose>-2 -3 50</init_pose>
    <zmax>1.5</zmax></block>
  <block name="crate"><init_pose>1 -1 15</init_pose><zmax>0.5</zmax></block>
  <walls><wallThickness>0.2</wallThickness><wallHeight>1</wallHeight>
    <shape><pt>-8 -8</pt><pt>8 -8</pt><pt>8 -8</pt><pt>8 8</pt></shape></walls>
  <element class="property_region"><property_name>friction_mu</property_name><value_double>0.2</value_double>
    <x_min>-1</x_min><x_max>3</x_max><y_min>-1</y_min><y_max>1</y_max></element>"""
    + ROBOT.format(name="r1", pose="0 0 20", dynamics="differential", chassis="", more=LIDAR)
    + ROBOT.format(
        name="car",
        pose="-6 -4 60",
        dynamics="ackermann",
        chassis='<chassis mass="80" zmin="0.1" zmax="0.6"><color>#2060c0</color></chassis>',
        more="",
    ),
    "joints": """
  <element class="ground_grid"><interval>2</interval><color>#8080ff</color></element>
  <block name="trailer"><mass>10</mass><zmax>0.4</zmax><init_pose>-1.6 0 0</init_pose></block>
  <block name="post"><mass>5</mass><zmax>1</zmax><init_pose>-4 1 0</init_pose></block>"""
    + ROBOT.format(name="r1", pose="0 0 0", dynamics="differential", chassis="", more=LIDAR)
    + """<joint type="revolute" body_a="r1" anchor_a="-0.4 0" body_b="trailer" anchor_b="1.2 0"/>
  <joint type="distance" body_a="trailer" anchor_a="-0.5 0" body_b="post" anchor_b="0.5 0" max_length="3"/>""",
    "open": ROBOT.format(name="r1", pose="1 2 200", dynamics="differential_4_wheels", chassis="", more=LIDAR),
    "hills": """
  <element class="elevation_map"><resolution>2</resolution><mesh_color>#b09060</mesh_color>
    <elevation_data_matrix>[0 0 0 0 0; 0 0.5 1 0.5 0; 0 1 1.6 0.7 0; 0 0.2 0.6 0.3 0; 0 0 0 0 0]</elevation_data_matrix>
  </element>
  <element class="property_region"><property_name>friction_C_rr</property_name><value_double>0.2</value_double>
    <x_min>-2</x_min><x_max>1</x_max><y_min>-1</y_min><y_max>2</y_max></element>"""
    + ROBOT.format(name="r1", pose="1 1 60", dynamics="differential_4_wheels", chassis="", more=LIDAR),
    "far": """
  <block name="a"><static>true</static><init_pose>4000 9000 12</init_pose></block>"""
    + ROBOT.format(name="r1", pose="4002 9001 60", dynamics="differential", chassis="", more=LIDAR),
}


def env_pictures() -> Iterator[tuple[str, npt.NDArray[np.uint8]]]:
    """Every registered environment of one robot, two seeds, after some steps, from above and behind."""
    for env_id, path in sorted(listing().items()):
        if load_env(path, ()).several_agents:
            continue
        for camera in ("above", "behind"):
            env = gym.make(env_id, render_mode="rgb_array", camera=camera, width=WIDTH, height=HEIGHT)
            for seed in (1, 2):
                env.reset(seed=seed)
                env.action_space.seed(seed)
                for steps in (0, 12):
                    for _ in range(steps):
                        env.step(env.action_space.sample())
                    yield f"{env_id} {camera} {seed} {steps}", np.asarray(env.render())
            env.close()


def world_pictures(path: Path, name: str) -> Iterator[tuple[str, npt.NDArray[np.uint8]]]:
    """A world at its start and while it moves, from above and behind each of its first vehicles."""
    world = mvsim_gym.World(path)
    for time in (0.0, 1.3):
        world.step(time)
        yield f"{name} above {time}", world.draw(WIDTH, HEIGHT)
        for vehicle in list(world.vehicles)[:2]:
            picture = world.draw(WIDTH, HEIGHT, camera="behind", vehicle=vehicle)
            yield f"{name} behind {vehicle} {time}", picture


def all_pictures() -> Iterator[tuple[str, npt.NDArray[np.uint8]]]:
    """The pictures of this build, by name."""
    yield from env_pictures()
    for path in sorted(
        [*(ROOT / "tests/data").glob("*.world.xml"), *(ROOT / "benchmarks/worlds").glob("*.world.xml")]
    ):
        yield from world_pictures(path, path.name)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in WORLDS.items():
            path = Path(folder, f"{name}.world.xml")
            path.write_text(f'<mvsim_world version="1.0">{text}</mvsim_world>')
            yield from world_pictures(path, name)


def record(path: Path, png: Path | None) -> None:
    """Writes all pictures of this build."""
    pictures = dict(all_pictures())
    np.savez_compressed(path, allow_pickle=False, **pictures)
    if png is not None:
        from PIL import Image

        png.mkdir(parents=True, exist_ok=True)
        for name, picture in pictures.items():
            Image.fromarray(picture).save(png / f"{name.replace('/', '_').replace(' ', '-')}.png")
    print(f"{len(pictures)} pictures of {WIDTH} x {HEIGHT}")


def compare(before: Path, after: Path) -> bool:
    """Prints how far the pictures are apart; whether all are within the tolerance."""
    with np.load(before) as old, np.load(after) as new:
        if set(old.files) != set(new.files):
            print(f"not the same pictures: {sorted(set(old.files) ^ set(new.files))}")
            return False
        largest, beyond = 0, 0
        for name in old.files:
            difference = np.abs(old[name].astype(int) - new[name]).max(axis=2)
            pixels = int((difference > TOLERANCE).sum())
            largest, beyond = max(largest, int(difference.max())), beyond + pixels
            if difference.max() > 0:
                print(f"{name}: at most {difference.max()}, {pixels} pixels beyond {TOLERANCE}")
        print(f"{len(old.files)} pictures: at most {largest} of 255, {beyond} pixels beyond {TOLERANCE}")
        return beyond == 0


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    recorder = commands.add_parser("record")
    recorder.add_argument("file", type=Path)
    recorder.add_argument("--png", type=Path, help="folder for the pictures as files")
    comparer = commands.add_parser("compare")
    comparer.add_argument("before", type=Path)
    comparer.add_argument("after", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "record":
        record(arguments.file, arguments.png)
    elif not compare(arguments.before, arguments.after):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
