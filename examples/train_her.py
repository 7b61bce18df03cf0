"""Trains SAC with hindsight experience replay (HER) by the sparse reward alone: 1 at the goal, 0 elsewhere.

    python examples/train_her.py                                   # Parking: pose and speed have to be right
    python examples/train_her.py --env mvsim/NavArena-v0 --steps 100000

Writes model.zip (the policy with the best check) and metrics.json into runs/<env>-her-seed<seed>. The final evaluation
has the held-out seeds of the leaderboard. Success is that of the environment file, as for every other policy.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from evaluation import FINAL_SEEDS, HELD_OUT_SEEDS
from gymnasium import spaces
from report import file_name
from stable_baselines3 import SAC, HerReplayBuffer
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.type_aliases import DictReplayBufferSamples

from mvsim_gym.sb3 import MVSimVecEnv

LIMITS: dict[str, dict[str, Any]] = {
    "mvsim/NavArena-v0": {"goal_radius": 0.25},
    "mvsim/Parking-v0": {"goal_radius": 0.3, "goal_angle": 0.1, "goal_speed": 0.3},
}
"""When a goal counts as reached: the limits of `<terminate class="goal">` of each environment."""
CHECK_SEEDS = FINAL_SEEDS[len(HELD_OUT_SEEDS) :][:100]
FAR, NEAR = 40.0, 6.0  # m, of the two scales of the goal


class EndsAtGoals(HerReplayBuffer):
    """Ends what comes after a goal in hindsight, as the environment ends an episode at its goal."""

    def sample(  # type: ignore[override]  # as in HerReplayBuffer
        self, batch_size: int, env: Any = None
    ) -> DictReplayBufferSamples:
        drawn = super().sample(batch_size, env)
        return drawn._replace(dones=torch.maximum(drawn.dones, (drawn.rewards > 0).float()))


class GoalAhead(BaseFeaturesExtractor):
    """Shows the goal from the robot, once far and once near, instead of two places in the world."""

    def __init__(self, space: spaces.Dict) -> None:
        self.size, rest = spaces.flatdim(space["desired_goal"]), spaces.flatdim(space["observation"]) - 2
        super().__init__(space, rest + 4 + 2 * (self.size >= 4) + 2 * (self.size % 2))

    def forward(self, seen: dict[str, torch.Tensor]) -> torch.Tensor:
        now, goal, rest = seen["achieved_goal"], seen["desired_goal"], seen["observation"]
        cos, sin = rest[:, -2:-1], rest[:, -1:]  # of the robot's yaw
        x, y = (goal[:, :2] - now[:, :2]).split(1, dim=1)
        ahead = torch.cat([cos * x + sin * y, cos * y - sin * x], dim=1)
        parts = [rest[:, :-2], ahead / FAR, (ahead / NEAR).clamp(-1, 1)]
        if self.size >= 4:  # headings count
            a, b = goal[:, 2:4].split(1, dim=1)
            parts.append(torch.cat([cos * a + sin * b, cos * b - sin * a], dim=1))
        if self.size % 2:  # speeds count
            parts += [now[:, -1:], goal[:, -1:]]
        return torch.cat(parts, dim=1)


def evaluate(env: str, model: BaseAlgorithm, seeds: list[int]) -> dict[str, Any]:
    """One episode of each of the seeds, which follow each other, without noise in the actions."""
    assert seeds == list(range(seeds[0], seeds[0] + len(seeds)))
    envs = MVSimVecEnv(env, num_envs=len(seeds), **LIMITS[env])
    envs.seed(seeds[0])
    seen: Any = envs.reset()
    left, won = np.ones(len(seeds), bool), np.zeros(len(seeds), bool)
    seconds = np.zeros(len(seeds))
    while left.any():
        seen, _, dones, infos = envs.step(model.predict(seen, deterministic=True)[0])
        for i in (dones & left).nonzero()[0]:
            won[i], seconds[i], left[i] = infos[i]["is_success"], infos[i]["episode"]["t"], False
    envs.close()
    return {
        "success": float(won.mean()),
        "time": float(seconds[won].mean()) if won.any() else None,
        "episodes": len(seeds),
    }


class Checks(BaseCallback):
    """Saves the policy with the best check so far."""

    def __init__(self, env: str, folder: Path, every: int) -> None:
        super().__init__()
        self._check: Callable[[], Any] = lambda: evaluate(env, self.model, CHECK_SEEDS)
        self._folder, self._every, self._next, self._best = folder, every, every, -1.0

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._next:
            self._next += self._every
            result = self._check()
            print(f"step {self.num_timesteps:,}: success {100 * result['success']:.0f} %", flush=True)
            if result["success"] >= self._best:
                self._best = result["success"]
                self.model.save(self._folder / "model.zip", exclude=["replay_buffer"])
        return True


def learner(env: str, seed: int, num_envs: int) -> SAC:
    envs = MVSimVecEnv(env, num_envs=num_envs, **LIMITS[env])
    envs.seed(seed * num_envs)
    return SAC(
        "MultiInputPolicy",
        envs,
        replay_buffer_class=EndsAtGoals,
        replay_buffer_kwargs={"n_sampled_goal": 4, "goal_selection_strategy": "future"},
        buffer_size=500_000,
        learning_starts=1_000 * num_envs,  # more than an episode of each takes
        train_freq=1,
        gradient_steps=num_envs // 4,
        batch_size=256,
        learning_rate=1e-3,
        gamma=0.98,
        tau=0.02,
        policy_kwargs={"net_arch": [256, 256], "features_extractor_class": GoalAhead},
        seed=seed,
        device="cpu",
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--env", default="mvsim/Parking-v0", choices=list(LIMITS))
    parser.add_argument("--steps", type=int, default=500_000, help="environment steps (default 500000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--num-envs", type=int, default=16, help="at least 4 (default 16)")
    parser.add_argument(
        "--check-every", type=int, default=20_000, help="steps between checks (default 20000)"
    )
    parser.add_argument("--out", type=Path, help="default runs/<env>-her-seed<seed>")
    args = parser.parse_args()
    if args.num_envs < 4 or args.check_every < 1 or args.steps < args.check_every:
        parser.error("expected --num-envs of at least 4, and --check-every of at least 1 and at most --steps")
    out = args.out or Path("runs") / f"{file_name(args.env)}-her-seed{args.seed}"
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    began, used = time.monotonic(), time.process_time()
    model = learner(args.env, args.seed, args.num_envs)
    model.learn(args.steps, callback=Checks(args.env, out, args.check_every))
    cost = {"seconds": time.monotonic() - began, "processor_seconds": time.process_time() - used}
    steps = model.num_timesteps
    model.set_parameters(str(out / "model.zip"), device="cpu")
    result = evaluate(args.env, model, HELD_OUT_SEEDS)
    metrics = {"env": args.env, "seed": args.seed, "steps": steps, **cost, **result}
    (out / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n")
    print(f"{args.env}: {100 * metrics['success']:.1f} % of {metrics['episodes']} held-out episodes")


if __name__ == "__main__":
    main()
