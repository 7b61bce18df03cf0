"""PPO of PufferLib, whose buffers a native batch fills.

python examples/learners/pufferlib_ppo.py --steps 1000000
"""

from __future__ import annotations

import argparse
import tempfile
from typing import Any

import pufferlib.models
import pufferlib.vector
import torch
from pufferlib import pufferl
from torch import Tensor

from mvsim_gym.pufferlib import MVSimPufferEnv

HORIZON = 128


def configuration(steps: int, num_envs: int, folder: str) -> dict[str, Any]:
    """Returns PufferLib's settings, which it otherwise reads from a file: one processor, no compilation."""
    batch = HORIZON * num_envs
    return {
        "seed": 0,
        "torch_deterministic": True,
        "device": "cpu",
        "cpu_offload": False,
        "compile": False,
        "compile_mode": "default",
        "compile_fullgraph": False,
        "precision": "float32",
        "optimizer": "adam",
        "learning_rate": 1e-3,
        "anneal_lr": True,
        "adam_beta1": 0.9,
        "adam_beta2": 0.999,
        "adam_eps": 1e-5,
        "total_timesteps": max(steps, batch),
        "batch_size": batch,
        "bptt_horizon": HORIZON,
        "minibatch_size": min(4096, batch),
        "max_minibatch_size": 4096,
        "update_epochs": 5,
        "use_rnn": False,
        "gamma": 0.99,
        "gae_lambda": 0.95,
        "clip_coef": 0.2,
        "vf_coef": 0.5,
        "vf_clip_coef": 10.0,
        "ent_coef": 0.002,
        "max_grad_norm": 0.5,
        "prio_alpha": 0.0,
        "prio_beta0": 1.0,
        "vtrace_rho_clip": 1.0,
        "vtrace_c_clip": 1.0,
        "checkpoint_interval": 10_000,
        "data_dir": folder,
        "env": "mvsim",
    }


def advantages_without_cuda(
    values: Tensor,
    rewards: Tensor,
    terminals: Tensor,
    ratio: Tensor,
    advantages: Tensor,
    gamma: float,
    gae_lambda: float,
    rho_clip: float,
    c_clip: float,
) -> Tensor:
    """Generalised advantages with the clipped weights of V-trace, in place. Reward and end of a step lie in the column
    after it, as PufferLib keeps them. Its wheels have this for CUDA only."""
    following = torch.zeros_like(values[:, 0])
    for t in reversed(range(values.shape[1] - 1)):
        going_on = 1 - terminals[:, t + 1]
        error = rewards[:, t + 1] + gamma * values[:, t + 1] * going_on - values[:, t]
        decay = gamma * gae_lambda * ratio[:, t].clamp(max=c_clip) * going_on
        following = ratio[:, t].clamp(max=rho_clip) * error + decay * following
        advantages[:, t] = following
    return advantages


class Quiet(pufferl.PuffeRL):  # type: ignore[misc]
    """Without the full-screen table."""

    def print_dashboard(self, *args: Any, **keywords: Any) -> None:
        if self.epoch:
            success = self.stats.get("success", self.last_stats.get("success", float("nan")))
            print(f"{self.global_step:>10,} steps   success {success}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", default="mvsim/NavArena-v0")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--num-envs", type=int, default=64)
    args = parser.parse_args()
    torch.set_num_threads(1)  # for networks this small more threads wait for each other: docs/training.md
    keywords = {"env": args.env, "num_envs": args.num_envs}
    vecenv = pufferlib.vector.make(
        MVSimPufferEnv, env_kwargs=keywords, num_envs=1, backend=pufferlib.PufferEnv
    )
    policy = pufferlib.models.Default(vecenv.driver_env, hidden_size=64)
    if not pufferl._C_AVAILABLE:
        pufferl.compute_puff_advantage = advantages_without_cuda
    with tempfile.TemporaryDirectory() as folder:
        learner = Quiet(configuration(args.steps, args.num_envs, folder), vecenv, policy)
        try:
            while learner.global_step < learner.config["total_timesteps"]:
                learner.evaluate()
                learner.train()
        finally:
            learner.close()  # its threads would keep the process


if __name__ == "__main__":
    main()
