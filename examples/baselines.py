"""Scripted policies on the public API, the yardsticks beside which a learned one stands.

A policy maps a batch of observations (dict of arrays, one row an environment) to commands in physical units (a twist
in m/s and rad/s, or torque and steering angle); `Robot.as_actions` turns those into actions in [-1, 1].

    python examples/baselines.py --env mvsim/NavArena-v0
    python examples/baselines.py --env all --json benchmarks/results/baselines.json   # all figures of docs/baselines.md
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import barn_policies
import numpy as np
from car_policies import Car, drive_to_goal
from crowd_policies import velocity_obstacles
from depth_policies import depth_gap_follower
from duel_evaluation import duel_table, evaluate_duel
from evaluation import HELD_OUT_SEEDS, Result, evaluate, table
from flat_row_policies import flat_row_follower
from lidar_policies import dynamic_window, gap_follower, go_to_goal, keep_right, wide_gap_follower
from moving_policies import social_window, static_window, velocity_window, wait_and_go
from parking_policies import parker
from path_policies import drifter, line_keeper, path_follower
from race_policies import follow_the_gap, pure_pursuit
from robot import TEAMS, Array, Observation, Robot, id_of, rows_of
from route_policies import waypoint_follower
from row_policies import row_follower
from team_evaluation import evaluate_team, team_table
from terrain_policies import slope_avoider
from trailer_policies import docker
from visual_policies import visual_gap_follower

Policy = Callable[[Observation], Array]
Maker = Callable[[Robot], Policy]

LIDAR: dict[str, Maker] = {
    "gap follower": gap_follower,
    "go to goal": go_to_goal,
    "DWA": dynamic_window,
}
ICE_DRIVERS: dict[str, Maker] = {
    "brakes early": drive_to_goal(
        Car(wheelbase=2.55, top_speed=9, braking=0.8, torque_gain=800, parking_distance=0.7)
    ),
    "knows no ice": drive_to_goal(
        Car(wheelbase=2.55, top_speed=14, braking=4, torque_gain=800, parking_distance=0.7, slip=1)
    ),
}
SAND_DRIVERS: dict[str, Maker] = {
    "keeps its momentum": drive_to_goal(
        Car(wheelbase=2.5, top_speed=14, braking=4, torque_gain=1500, parking_distance=0, slip=1)
    ),
    "slow and steady": drive_to_goal(
        Car(wheelbase=2.5, top_speed=9, braking=0.8, torque_gain=1500, parking_distance=0)
    ),
}
# Scripted policies of each environment. Tests of the environment use the first one as their standard.
BASELINES: dict[str, dict[str, Maker]] = {
    "mvsim/Barn-v0": {
        "follow the gap": barn_policies.follow_the_gap,
        "MPPI": barn_policies.mppi,
        "DWA, 0.5 m/s": barn_policies.dynamic_window(0.5),
        "DWA, 2 m/s": barn_policies.dynamic_window(2.0),
    },
    "mvsim/Crowd-v0": {"velocity obstacles": velocity_obstacles, "go to goal": go_to_goal},
    "mvsim/CrowdNav-v0": {"velocity obstacles": velocity_obstacles, "go to goal": go_to_goal},
    "mvsim/DepthNavigation-v0": {"gap follower": depth_gap_follower, "go to goal": go_to_goal},
    "mvsim/Drift-v0": {"drifts": drifter, "keeps the line": line_keeper(1.8)},
    "mvsim/DynaBarn-v0": {
        "velocity window": velocity_window,
        "DWA": static_window,
        "wait and go": wait_and_go,
    },
    "mvsim/GnssRoute-v0": {
        "mean of fixes": waypoint_follower(4.0),
        "last fix": waypoint_follower(4.0, window=False),
    },
    "mvsim/Greenhouse-v0": {"row follower": row_follower},
    "mvsim/IceDrive-v0": ICE_DRIVERS,
    "mvsim/MultiNav-v0": {"keep right": keep_right, "gap follower": gap_follower, "go to goal": go_to_goal},
    "mvsim/NavArena-v0": LIDAR,
    "mvsim/NavMap-v0": LIDAR,
    "mvsim/OffRoad-v0": SAND_DRIVERS,
    "mvsim/Parking-v0": {"Reeds and Shepp": parker},
    "mvsim/Race-v0": {"pure pursuit": pure_pursuit(), "follow the gap": follow_the_gap},
    "mvsim/RaceDuel-v0": {
        "pure pursuit": pure_pursuit(share=0.85),
        "pure pursuit at full speed": pure_pursuit(),
        "follow the gap": follow_the_gap,
    },
    "mvsim/RowFollow-v0": {"flat row follower": flat_row_follower},
    "mvsim/Slick-v0": {
        "careful": path_follower(grip=0.06),
        "as on dry ground": path_follower(grip=0.12),
    },
    "mvsim/SocialNav-v0": {"social window": social_window, "go to goal": go_to_goal},
    "mvsim/TerrainGoal-v0": {"slope avoider": slope_avoider, "go to goal": go_to_goal},
    "mvsim/TrailerDock-v0": {"LQR with pull-ups": docker(), "LQR alone": docker(pull_ups=False)},
    "mvsim/TurtleBot3Nav-v0": {"wide gap follower": wide_gap_follower, **LIDAR},
    "mvsim/VisualNavigation-v0": {"gap follower": visual_gap_follower, "go to goal": go_to_goal},
}
# Races of two: pairs of policies.
DUELS = {
    "mvsim/RaceDuel-v0": [
        ("pure pursuit", "follow the gap"),
        ("pure pursuit", "pure pursuit at full speed"),
        ("pure pursuit", "pure pursuit"),
    ]
}


def policies(env_id: str) -> dict[str, Policy]:
    """The environment's scripted policies, observations -> actions in [-1, 1]; none of an environment unknown here."""
    makers = BASELINES.get(id_of(env_id), {})
    if not makers:
        return {}
    robot = Robot(env_id)
    made = {name: make(robot) for name, make in makers.items()}
    return {name: lambda o, p=policy: robot.as_actions(p(o)) for name, policy in made.items()}


def floors(env_id: str) -> dict[str, Policy]:
    """Returns the policies that every other one should beat: random actions, and zero speed or torque."""
    robot, rng = Robot(env_id), np.random.default_rng(0)
    nothing = robot.as_actions(np.zeros(len(robot.low)))

    def at_random(observation: Observation) -> Array:
        return rng.uniform(-1, 1, (rows_of(observation), len(nothing))).astype(np.float32)

    return {"random": at_random, "stands still": lambda o: np.tile(nothing, (rows_of(o), 1))}


def measure(env_id: str, seeds: list[int]) -> dict[str, Result]:
    """The evaluations of the environment's scripted policies, then of the floors."""
    drivers = {**policies(env_id), **floors(env_id)}
    if env_id in TEAMS:
        return {name: evaluate_team(env_id, p, seeds, TEAMS[env_id]) for name, p in drivers.items()}
    return {
        name: evaluate(env_id, policy, seeds, spl=True, title=f"{env_id}, {name}")
        for name, policy in drivers.items()
    }


def measure_duels(env_id: str, seeds: list[int]) -> dict[str, Result]:
    """The races of two that an environment of DUELS is there for."""
    drivers = policies(env_id) if env_id in DUELS else {}
    return {
        f"{first} against {second}": evaluate_duel(env_id, drivers[first], drivers[second], seeds)
        for first, second in DUELS.get(env_id, [])
    }


def save(path: Path, env_id: str, rows: dict[str, Result], duels: dict[str, Result]) -> None:
    """Puts the rows of an environment into a file of results, which keeps those of others and of learned policies."""
    results = json.loads(path.read_text()) if path.exists() else {}
    results.setdefault(env_id, {"learned": None})["policies"] = rows
    if duels:
        results[env_id]["duels"] = duels
    path.write_text(json.dumps(dict(sorted(results.items())), indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--env", default="mvsim/NavArena-v0", choices=[*BASELINES, "all"])
    parser.add_argument("--episodes", type=int, default=len(HELD_OUT_SEEDS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="put the results into this file, too")
    args = parser.parse_args()
    if not 1 <= args.episodes <= len(HELD_OUT_SEEDS):
        parser.error(f"--episodes {args.episodes}: expected 1 to {len(HELD_OUT_SEEDS)}, the held-out seeds")
    for env_id in BASELINES if args.env == "all" else [args.env]:
        rows = measure(env_id, HELD_OUT_SEEDS[: args.episodes])
        print(f"{env_id}, {args.episodes} held-out episodes\n")
        print(team_table(rows) if env_id in TEAMS else table(rows), end="\n\n", flush=True)
        if duels := measure_duels(env_id, HELD_OUT_SEEDS[: args.episodes]):
            print(duel_table(duels), end="\n\n", flush=True)
        if args.json:
            save(args.json, env_id, rows, duels)


if __name__ == "__main__":
    main()
