"""Scripted policies on the public API, the yardsticks beside which a learned one stands.

A policy maps a batch of observations (dict of arrays, one row an environment) to commands in physical units (a twist
in m/s and rad/s, or torque and steering angle); `Robot.as_actions` turns those into actions in [-1, 1].

    python examples/baselines.py --env mvsim/NavArena-v0
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from car_policies import Car, drive_to_goal
from evaluation import HELD_OUT_SEEDS, evaluate, table
from lidar_policies import dynamic_window, gap_follower, go_to_goal, keep_right
from robot import TEAMS, Array, Observation, Robot, id_of
from team_evaluation import evaluate_team, team_table
from terrain_policies import slope_avoider

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
# What drives each environment; the first is the yardstick of its tests.
BASELINES: dict[str, dict[str, Maker]] = {
    "mvsim/IceDrive-v0": ICE_DRIVERS,
    "mvsim/MultiNav-v0": {"keep right": keep_right, "gap follower": gap_follower, "go to goal": go_to_goal},
    "mvsim/NavArena-v0": LIDAR,
    "mvsim/NavMap-v0": LIDAR,
    "mvsim/OffRoad-v0": SAND_DRIVERS,
    "mvsim/TerrainGoal-v0": {"slope avoider": slope_avoider, "go to goal": go_to_goal},
}


def policies(env_id: str) -> dict[str, Policy]:
    """The environment's scripted policies, observations -> actions in [-1, 1]."""
    robot = Robot(env_id)
    made = {name: make(robot) for name, make in BASELINES.get(id_of(env_id), {}).items()}
    return {name: lambda o, p=policy: robot.as_actions(p(o)) for name, policy in made.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--env", default="mvsim/NavArena-v0", choices=BASELINES)
    parser.add_argument("--episodes", type=int, default=len(HELD_OUT_SEEDS))
    args = parser.parse_args()
    seeds = HELD_OUT_SEEDS[: args.episodes]
    if args.env in TEAMS:
        found = {
            name: evaluate_team(args.env, p, seeds, TEAMS[args.env]) for name, p in policies(args.env).items()
        }
        print(team_table(found))
        return
    rows = {
        name: evaluate(args.env, policy, seeds, spl=True, title=name)
        for name, policy in policies(args.env).items()
    }
    print(table(rows))


if __name__ == "__main__":
    main()
