"""How each environment is learned by PPO: what the learner sees and is paid for, its networks, rates and steps.

The folder `recipes` has a YAML file for each environment, such as NavArena-v0.yaml, with the fields of `Recipe` that
differ from their defaults. `train_ppo.py` takes the file of its environment, or the default recipe.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml
from robot import id_of

from mvsim_gym.tools.options import merged as merged


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
    octaves: int = (
        0  # of the waves that show a place; the yaw replaces an IMU's quaternion. 0: the vector as it is
    )
    critic_only: tuple[str, ...] = ()  # observations that the actor does not see
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


FOLDER = Path(__file__).resolve().parent / "recipes"
_TUPLES = ("net", "rings", "check_episodes", "critic_only")


def read_recipe(path: Path) -> Recipe:
    """The recipe in a YAML file.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no YAML, a key is no field of `Recipe`, or a value is of another kind than the field.
    """
    try:
        given = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(given, dict):
        raise ValueError(f"{path}: found {given!r}, expected keys and values")
    kinds = {item.name: item.type for item in fields(Recipe)}
    for key, value in given.items():
        if key not in kinds:
            near = difflib.get_close_matches(str(key), kinds, 1)
            hint = f", did you mean '{near[0]}'?" if near else f", expected one of {', '.join(kinds)}"
            raise ValueError(f"{path}: found '{key}'{hint}")
        if not _fits(value, str(kinds[key])):
            raise ValueError(f"{path}: {key}: found {value!r}, expected {kinds[key]}")
    return Recipe(**{key: tuple(value) if key in _TUPLES else value for key, value in given.items()})


def _fits(value: Any, kind: str) -> bool:
    if kind.startswith("tuple"):
        item_type = str if "str" in kind else int
        return isinstance(value, list) and all(type(item) is item_type for item in value)
    expected = {"int": (int,), "float": (int, float), "str": (str,)}.get(kind, (dict,))
    return isinstance(value, expected) and not isinstance(value, bool)


def recipe_of(env: str) -> Recipe:
    """The recipe of an environment, by its id."""
    known = recipes()
    return read_recipe(known[id_of(env)]) if id_of(env) in known else Recipe()


def recipes() -> dict[str, Path]:
    """The file of each environment that has a recipe, by its id."""
    return {f"mvsim/{path.stem}": path for path in sorted(FOLDER.glob("*.yaml"))}
