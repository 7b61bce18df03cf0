"""Whole episodes of one world with one agent or several, for films and data sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym._build import one_world, recipe_of
from mvsim_gym._constructors import CONSTRUCTORS


def agents_of(env_id: str, keywords: Mapping[str, Any]) -> int:
    """Returns the number of rows that one world has in a `VectorEnv` with these keywords.

    Raises:
        ValueError: agents restart one by one, so episodes of the world have no end.
    """
    batch = one_world(env_id, **keywords)
    if batch.spec.on_end == "respawn":
        raise ValueError(
            f"{env_id}: found on_end=\"respawn\", expected 'wait' or 'end_all': with respawn agents restart one by one,"
            " so an episode of the world has no end"
        )
    return batch.num_agents


def is_flat(env_id: str) -> bool:
    """Returns whether the id was registered with `flatten=True`, so that its observations are one vector."""
    return bool(recipe_of(CONSTRUCTORS["VectorEnv"], env_id, {}).options["flatten"])


def ends_of(finished: npt.NDArray[np.bool_], infos: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Returns the infos, as of `Env`, of the rows whose episode ended in a step; `infos` are those of the step."""
    return {
        row: {
            key: values[row].item()
            for key, values in infos.items()
            if not key.startswith("_") and infos[f"_{key}"][row]
        }
        for row in finished.nonzero()[0].tolist()
    }


def outcome(info: dict[str, Any]) -> str:
    """Returns one word for how an episode ended, from the info of its last step."""
    if info["success"]:
        return "success"
    held = [key.removeprefix("terminated/") for key in info if key.startswith("terminated/") and info[key]]
    if held:
        return held[0]
    # an episode without any of these ended with another agent of its world
    return next((word for word in ("timeout", "diverged") if info[word]), "cut short")
