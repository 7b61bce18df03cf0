"""How each environment is learned by PPO: what the learner sees and is paid for, its networks, rates and steps.

`train_ppo.py` takes the row of its environment, or the default recipe.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from robot import id_of

from mvsim_gym.tools.settings import merged as merged


@dataclass(frozen=True)
class Recipe:
    """Hyperparameters of PPO, and the keywords of the environment while it learns and while it is evaluated."""

    steps: int = 2_000_000  # of environments; of several agents, of each of them
    keywords: dict[str, Any] = field(default_factory=dict)  # of the environment
    learning_keywords: dict[str, Any] = field(default_factory=dict)  # of the environment while it learns
    net: tuple[int, ...] = (64, 64)
    activation: str = "Tanh"
    neighbour_features: int = 0  # of layers that see one neighbour at a time; 0: the vector as it is
    rings: tuple[int, int] | None = None  # of a 3D lidar, from the first on: that see neither floor nor sky
    num_envs: int = 64
    n_steps: int = 128  # of each environment in a rollout
    batch_size: int = 4096
    n_epochs: int = 5
    learning_rate: float = 1e-3
    last_learning_rate: float = 3e-5  # it falls linearly
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    ent_coef: float = 0.002
    log_std: float = 0.0  # of the actions' deviation at the start
    reward_scale: float = 0.2  # brings returns to the order of one, where PPO's value loss is at home
    check_every: int = 200_000  # steps between evaluations until the policy is good
    check_episodes: tuple[int, int] = (400, 1000)  # of an evaluation, and of one of a good policy
    averaging: float = (
        0.9  # the policy that is kept is a running mean of those after each rollout; 0: the last one
    )


# Scaled by their bounds to [-1, 1], centimetres are lost in a range of metres: what is near is seen twice.
NEAR_SCAN = {"class": "scan", "sectors": 36, "max": 0.7}
DEPTH_SCAN = {"sensor": "camera", "rows": "22 25", "sectors": 32, "max": 1.5, "history": 6}
NEAR_GROUND = {"class": "height_scan", "rows": 9, "columns": 9, "spacing": 0.2, "ahead": 0.4, "max": 0.4}
NEAR_GOAL = {"class": "goal", "max_distance": 8}
WIDE: dict[str, Any] = {
    "net": (128, 128),
    "activation": "ReLU",
    "num_envs": 128,
    "n_steps": 64,
    "batch_size": 2048,
    "last_learning_rate": 0,
    "ent_coef": 0,
}

# Frames cost far more to learn from than vectors: fewer epochs on each.
PICTURES: dict[str, Any] = {
    "net": (128, 128),
    "activation": "ReLU",
    "n_steps": 64,
    "batch_size": 1024,
    "n_epochs": 3,
    "last_learning_rate": 0,
    "ent_coef": 0,
}

RECIPES: dict[str, Recipe] = {
    "mvsim/Crowd-v0": Recipe(
        **WIDE,
        steps=1_500_000,
        keywords={"observe": {"near_goal": NEAR_GOAL, "neighbours": {"max_distance": 6, "max_speed": 2}}},
        learning_keywords={"reward": {"collision": -20, "time": -0.03}},
        neighbour_features=64,
        log_std=-0.5,
        check_every=300_000,
    ),
    "mvsim/DepthNavigation-v0": Recipe(
        **WIDE,
        steps=3_000_000,
        keywords={
            # in place of the picture what stood near ahead in the last second: boxes that the camera no longer sees are
            # beside the robot
            "observe": {"depth": False, "scan": DEPTH_SCAN, "velocity": {"history": 6}},
        },
        learning_keywords={"reward": {"collision": -20, "time": -0.08}},
    ),
    "mvsim/Greenhouse-v0": Recipe(
        **{**WIDE, "num_envs": 64, "n_steps": 128},  # a turn takes 30 steps
        steps=4_000_000,
        keywords={
            "action": {"vx": "0.5 1"},  # else it learns to stand on the headland
            "observe": {"row_index": {}},  # else the first alley, already driven, looks like one that pays
        },
        learning_keywords={
            # anywhere in the alleys and on the headlands, else turns are hardly ever met, and often where it learned to
            # drive in circles: before the first alley and on the near headland; nothing is left by which an episode
            # ends before its time that is cheaper than a turn that goes wrong
            "reset": {"spawn": False, "line_up": {"along": "0 98 0 98 0 5 44 54", "lateral": 0.2, "yaw": 30}},
            "time_limit": 25,
            "terminate": {"contacts": False},
            "reward": {
                "collision": -1,
                "offset": {"class": "row_offset", "weight": -0.02},
                "left_field": {"class": "collision", "with": "wall", "weight": -20},
            },
        },
        rings=(1, 4),
        log_std=-0.3,
        check_every=500_000,
        check_episodes=(50, 200),
    ),
    "mvsim/IceDrive-v0": Recipe(
        **WIDE,
        steps=2_000_000,
        keywords={"observe": {"near_goal": NEAR_GOAL}},
        learning_keywords={"reward": {"time": -0.05}},
        gamma=0.995,
    ),
    "mvsim/MultiNav-v0": Recipe(
        **WIDE,
        steps=5_000_000,
        keywords={"observe": {"near": NEAR_SCAN, "neighbours": {"count": 3, "max_distance": 3.5}}},
        learning_keywords={"on_end": "respawn", "reward": {"collision": -10, "time": -0.04}},
        check_every=500_000,
        check_episodes=(400, 2000),
    ),
    "mvsim/NavArena-v0": Recipe(
        **WIDE,
        steps=1_500_000,
        keywords={"observe": {"near": NEAR_SCAN}},
        learning_keywords={"reward": {"collision": -20, "clearance": -0.2}},
        check_every=50_000,
        check_episodes=(400, 2000),
    ),
    "mvsim/NavMap-v0": Recipe(
        **WIDE,
        steps=4_000_000,
        keywords={
            "observe": {
                "near": {"class": "scan", "sectors": 45, "max": 1.5},
                "near_goal": {
                    "class": "goal",
                    "max_distance": 2,
                },  # else it may stop where waypoints get short
                "next": {"class": "waypoint", "ahead": 1},
            }
        },
        learning_keywords={"time_limit": 20, "reward": {"collision": -30, "time": -0.05}},
        log_std=-0.5,
    ),
    "mvsim/OffRoad-v0": Recipe(
        **WIDE,
        steps=2_000_000,
        keywords={"observe": {"near_goal": NEAR_GOAL, "wheels": {"history": 3}}},
        learning_keywords={"reward": {"failure": -20}},
    ),
    "mvsim/Race-v0": Recipe(
        **WIDE,
        steps=600_000,
        learning_keywords={"reward": {"collision": -30}},
    ),
    "mvsim/RaceDuel-v0": Recipe(
        **WIDE,
        steps=600_000,
        learning_keywords={"on_end": "respawn", "reward": {"collision": -30}},
        check_episodes=(400, 800),  # they are long
    ),
    "mvsim/TerrainGoal-v0": Recipe(
        **WIDE,
        steps=2_500_000,
        keywords={
            "observe": {
                "near": NEAR_GROUND,
                "near_attitude": {"class": "attitude", "max": 30},
                "near_goal": NEAR_GOAL,
            }
        },
        learning_keywords={"reward": {"failure": -80}},  # else it takes slopes at full speed
        gamma=0.995,
        check_every=400_000,
    ),
    "mvsim/VisualNavigation-v0": Recipe(
        **PICTURES,
        steps=2_500_000,
        # small pictures of the last two seconds in place of a large one: what it hits has left the picture a second or
        # two before
        keywords={
            "observe": {
                "image": {"rows": 32, "columns": 32, "history": 4, "stride": 3},
                "velocity": {"history": 10},
            }
        },
        learning_keywords={"reward": {"collision": -20, "time": -0.07}},
    ),
}


def recipe_of(env: str) -> Recipe:
    """The recipe of an environment, by its id."""
    return RECIPES.get(id_of(env), Recipe())
