"""Properties of the robot that a scripted policy drives."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import mvsim_gym

Array = NDArray[np.floating]
Observation = dict[str, Array]

# Aperture of each environment's scan (radians) and the radius of its robot (m), where a policy looks at the scan.
SCAN_APERTURE: dict[str, float] = {
    "mvsim/Barn-v0": np.deg2rad(270),
    "mvsim/MultiNav-v0": np.deg2rad(358),
    "mvsim/NavArena-v0": np.deg2rad(358),
    "mvsim/NavMap-v0": np.deg2rad(270),
    "mvsim/SocialNav-v0": np.deg2rad(357),
    "mvsim/TurtleBot3Nav-v0": np.deg2rad(357),
}
# Width of the view of each environment's camera (radians), where a policy looks at the image.
IMAGE_APERTURE: dict[str, float] = {
    "mvsim/DepthNavigation-v0": np.deg2rad(86),
    "mvsim/VisualNavigation-v0": np.deg2rad(90),
}
ROBOT_RADIUS = {
    "mvsim/Barn-v0": 0.27,
    "mvsim/DepthNavigation-v0": 0.105,
    "mvsim/MultiNav-v0": 0.105,
    "mvsim/NavArena-v0": 0.105,
    "mvsim/NavMap-v0": 0.33,
    "mvsim/SocialNav-v0": 0.33,
    "mvsim/TurtleBot3Nav-v0": 0.105,
    "mvsim/VisualNavigation-v0": 0.105,
}
# Agents of a world, where there are several.
TEAMS = {"mvsim/MultiNav-v0": 4, "mvsim/RaceDuel-v0": 2}


def id_of(env: str) -> str:
    """The id as Gymnasium's registry has it: without the module that `module:ns/Name-v0` imports."""
    return env.rpartition(":")[2]


def rows_of(observation: Observation) -> int:
    """How many environments, or robots, an observation is of."""
    return len(next(iter(observation.values())))


class Robot:
    """Bounds of the commands; where there is a scan or an image, directions of its sectors or columns and the radius
    of the body."""

    def __init__(self, env_id: str):
        known = id_of(env_id)
        env = mvsim_gym.VectorEnv(env_id, num_envs=TEAMS.get(known, 1))
        self.low, self.high = np.array(env.action_low), np.array(env.action_high)
        if known in SCAN_APERTURE:
            scan = env.single_observation_space["scan"]
            self.max_range = float(scan.high[0])
            aperture = SCAN_APERTURE[known]
            self.angles = (np.arange(scan.shape[0]) + 0.5) / scan.shape[0] * aperture - aperture / 2
            self.radius = ROBOT_RADIUS[known]
        if known in IMAGE_APERTURE:
            image = next(
                env.single_observation_space[key]
                for key in ("depth", "image")
                if key in env.single_observation_space.spaces
            )
            self.max_range = float(image.high.flat[0]) if image.dtype == np.float32 else 5.0
            columns = image.shape[1]
            across = (np.arange(columns) - (columns - 1) / 2) / (columns / 2)  # -1 to 1, left to right
            self.angles = -np.arctan(across * np.tan(IMAGE_APERTURE[known] / 2))
            self.radius = ROBOT_RADIUS[known]
        env.close()

    def as_actions(self, commands: Array) -> Array:
        """Commands [n, m] in physical units -> actions [n, m] in [-1, 1]."""
        scaled = 2 * (commands - self.low) / (self.high - self.low) - 1
        return np.clip(scaled, -1, 1).astype(np.float32)

    def points(self, scan: Array) -> tuple[Array, Array]:
        """The scan's hits in the robot frame, x and y [n, sectors]."""
        return scan * np.cos(self.angles), scan * np.sin(self.angles)
