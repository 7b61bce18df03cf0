"""The network that PPO of Stable-Baselines3 learns with, by what is observed."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces
from recipes import Recipe
from torch import nn

from mvsim_gym.sb3 import PictureExtractor


def network_for(space: spaces.Space[Any], recipe: Recipe) -> tuple[str, dict[str, Any]]:
    """Policy class and its keywords for observations of `MVSimVecEnv`.

    Vectors: the layers of the recipe. With pictures: three convolutions that actor and critic share, then these layers
    of each; with one layer of 64 below 40,000 parameters in all.
    """
    layers = {"net_arch": list(recipe.net), "activation_fn": getattr(nn, recipe.activation)}
    if not isinstance(space, spaces.Dict):
        return "MlpPolicy", layers
    return "MultiInputPolicy", {
        **layers,
        "features_extractor_class": PictureExtractor,
        "normalize_images": False,
    }
