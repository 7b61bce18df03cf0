"""The network that PPO of Stable-Baselines3 learns with, by what is observed, and the recipe that suits it."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from mvsim_gym.sb3 import PictureExtractor

# Frames cost far more to learn from than vectors: fewer epochs on each.
PICTURE_RECIPE: dict[str, Any] = {"n_steps": 64, "batch_size": 1024, "n_epochs": 3}


def network_for(space: spaces.Space[Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Policy class, its keywords, and what differs in the recipe, for observations of `MVSimVecEnv`.

    Vectors: two layers of 64. With pictures: three convolutions that actor and critic share, then a layer of 64 of
    each, below 40,000 parameters in all.
    """
    if not isinstance(space, spaces.Dict):
        return "MlpPolicy", {"net_arch": [64, 64]}, {}
    keywords = {
        "features_extractor_class": PictureExtractor,
        "normalize_images": False,
        "net_arch": [64],
    }
    return "MultiInputPolicy", keywords, PICTURE_RECIPE
