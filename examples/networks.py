"""The network that PPO of Stable-Baselines3 learns with, by what is observed."""

from __future__ import annotations

from typing import Any

from recipes import Recipe
from torch import nn

from mvsim_gym.sb3 import (
    FlatObservation,
    NeighbourExtractor,
    PictureExtractor,
    PlaceExtractor,
    PrivilegedCriticPolicy,
    RingExtractor,
)


def network_for(
    flat: FlatObservation, recipe: Recipe
) -> tuple[str | type[PrivilegedCriticPolicy], dict[str, Any]]:
    """Policy class and its keywords for observations of `MVSimVecEnv`.

    Vectors: the layers of the recipe; with `neighbour_features` they see neighbours through layers that all neighbours,
    and actor and critic, share. With pictures: the convolutions of `PictureExtractor`, which actor and critic share,
    then the layers of each. With `rings` of a 3D lidar: the layers of the recipe see its nearest returns, and places as
    waves. With `octaves` the layers see the yaw of an IMU, and the place by a satellite receiver as waves.
    """
    if recipe.critic_only and (not recipe.octaves or recipe.rings or flat.pictures):
        raise ValueError("critic_only: expected a recipe of vectors with octaves and without rings")
    unknown = [name for name in recipe.critic_only if name not in flat.columns]
    if unknown:
        raise ValueError(f"critic_only: found '{unknown[0]}', expected one of {', '.join(flat.columns)}")
    if not hasattr(nn, recipe.activation):
        raise ValueError(
            f"activation: found '{recipe.activation}', expected a module of torch.nn such as Tanh"
        )
    layers = {"net_arch": list(recipe.net), "activation_fn": getattr(nn, recipe.activation)}
    if recipe.rings:
        return "MultiInputPolicy", {
            **layers,
            "features_extractor_class": RingExtractor,
            "features_extractor_kwargs": {"columns": flat.columns, "rings": recipe.rings},
            "normalize_images": False,
        }
    if flat.pictures:
        pictures = {"features_extractor_class": PictureExtractor, "normalize_images": False}
        return "MultiInputPolicy", {**layers, **pictures}
    if recipe.octaves:
        highs = {name: float(flat.highs[part.start]) for name, part in flat.columns.items()}
        shown = {"columns": flat.columns, "ranges": highs, "octaves": recipe.octaves}
        places = {"features_extractor_class": PlaceExtractor, "features_extractor_kwargs": shown}
        if recipe.critic_only:
            hidden = [flat.columns[name] for name in recipe.critic_only]
            return PrivilegedCriticPolicy, {**layers, **places, "critic_only": hidden}
        return "MlpPolicy", {**layers, **places}
    if not recipe.neighbour_features:
        return "MlpPolicy", layers
    own = {"columns": flat.columns["neighbours"], "features": recipe.neighbour_features}
    return "MlpPolicy", {
        **layers,
        "features_extractor_class": NeighbourExtractor,
        "features_extractor_kwargs": own,
    }
