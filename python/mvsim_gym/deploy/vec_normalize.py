"""The statistics of `VecNormalize` of Stable-Baselines3, which its models lack."""

from __future__ import annotations

import os
import pickle
from typing import TYPE_CHECKING, Any

from mvsim_gym.tools.policy import is_normalized, trained_space

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecNormalize

NONE = "none"
"""Says that a model took observations as they are, and that rewards alone were normalised."""


def statistics_for(model: str, given: str | os.PathLike[str] | None) -> VecNormalize | None:
    """Returns the statistics of a model, None if it took observations as they are.

    Args:
        model: MODEL.zip of Stable-Baselines3.
        given: the file that `VecNormalize.save` wrote (loading it runs code in it), or "none".

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it has no statistics or those of other observations, or the model needs a file that is not given.
    """
    if given is None:
        if is_normalized(model):
            raise ValueError(
                f"model: '{model}' was trained in VecNormalize, whose statistics are not in it, expected --normalize"
                f" with the file of VecNormalize.save, or --normalize {NONE} if no observations were normalised"
            )
        return None
    if os.fspath(given) == NONE:
        return None
    from stable_baselines3.common.vec_env import VecNormalize

    name = os.fspath(given)
    if not os.path.isfile(name):
        raise FileNotFoundError(f"--normalize: there is no file '{name}'")
    try:
        with open(name, "rb") as file:
            found = pickle.load(file)
    except Exception as error:  # pickle raises many kinds of errors
        raise ValueError(f"--normalize: '{name}' cannot be loaded: {error}") from None
    if not isinstance(found, VecNormalize):
        raise ValueError(
            f"--normalize: found a {type(found).__name__} in '{name}', expected the file of VecNormalize.save"
        )
    trained = trained_space(model)
    rms: Any = found.obs_rms if found.norm_obs else {}
    parts = rms if isinstance(rms, dict) else {None: rms}
    for key, part in parts.items():
        own = trained if key is None else getattr(trained, "spaces", {}).get(key)
        if own is None or part.mean.shape != own.shape:
            raise ValueError(
                f"--normalize: found statistics of {key or 'observations'} of the shape {part.mean.shape} in '{name}',"
                f" expected those of {trained}"
            )
    return found
