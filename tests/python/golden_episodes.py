"""Hashes of what episodes return for a seed, one for each environment (docs/versions.md).

usage: python tests/python/golden_episodes.py [FILE] [--write]

Needs NumPy, Gymnasium and the package alone. Compares with FILE (tests/data/golden_episodes.json); `--write` writes it.
Pictures are left out: at edges they depend on the instruction set of the machine.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np

import mvsim_gym  # noqa: F401 (registers the environments)

GOLDEN = Path(__file__).resolve().parents[1] / "data" / "golden_episodes.json"
STEPS = 150
ROWS = 12  # a multiple of the agents of every team


def golden_ids() -> list[str]:
    return sorted(id for id in gym.registry if id.startswith("mvsim/") and id != "mvsim/Custom-v0")


def actions(steps: int, rows: int, size: int) -> np.ndarray:
    """(steps, rows, size) in [-1, 1], float32, by whole numbers, which no release of NumPy changes."""
    step, row, column = np.ogrid[:steps, :rows, :size]
    return (((step // 5 * 7 + row * 5 + column * 11) % 21) / 10 - 1).astype(np.float32)


def episode_hash(env_id: str) -> str:
    """Observations, rewards and ends of twelve rows, a row for each agent, over 150 steps."""
    envs = gym.make_vec(env_id, num_envs=ROWS)
    digest = hashlib.sha256()
    observation, _ = envs.reset(seed=3)
    kept = [key for key in sorted(observation) if observation[key].ndim < 3]
    for action in actions(STEPS, *envs.action_space.shape):
        for key in kept:
            digest.update(np.ascontiguousarray(observation[key]).tobytes())
        observation, reward, terminated, truncated, _ = envs.step(action)
        digest.update(np.asarray(reward, np.float64).tobytes())
        digest.update(np.packbits([terminated, truncated]).tobytes())
    envs.close()
    return digest.hexdigest()


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    file = Path(arguments[0]) if arguments else GOLDEN
    found = {env_id: episode_hash(env_id) for env_id in golden_ids()}
    if "--write" in sys.argv:
        file.write_text(json.dumps(found, indent=2) + "\n")
        return 0
    expected = json.loads(file.read_text())
    differ = [env_id for env_id in found if found[env_id] != expected.get(env_id)]
    print(f"golden episodes: {len(found) - len(differ)} of {len(found)} equal", *differ)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
