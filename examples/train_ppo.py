"""The main job: PPO of Stable-Baselines3 learns to reach goals, then is judged beside scripted baselines.

    python examples/train_ppo.py                                   # NavArena, two to four minutes on two cores
    python examples/train_ppo.py --env mvsim/NavMap-v0 --steps 5000000 --seed 1

Writes into runs/<env>-seed<seed>/: metrics.json, learning_curve.png, episode.mp4 (or episode.gif), model.zip and a
TensorBoard log.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import platform
import time
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from baselines import policies
from evaluation import HELD_OUT_SEEDS, evaluate, table
from report import plot_learning_curve, record_episode
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper
from tqdm import tqdm

from mvsim_gym.sb3 import FlatObservation, MVSimVecEnv

# Few large minibatches: on two cores the learner, not the simulator, decides how long training takes.
RECIPE: dict[str, Any] = {
    "n_steps": 128,
    "batch_size": 4096,
    "n_epochs": 5,
    "gamma": 0.99,
    "gae_lambda": 0.95,
    "clip_range": 0.2,
    "ent_coef": 0.002,
}
LEARNING_RATE = 1e-3
REWARD_SCALE = 0.2  # brings returns to the order of one, where PPO's value loss is at home
DEFAULT_STEPS = {"mvsim/NavArena-v0": 6_000_000, "mvsim/NavMap-v0": 5_000_000}
CHECK_SEEDS = range(2_000_000, 2_000_400)  # of evaluations during training; the final 500 are others
CHECK_EVERY = 200_000  # environment steps between evaluations


class TimedReward(VecEnvWrapper):
    """Scales rewards and adds up the wall time spent in the simulator."""

    def __init__(self, venv: VecEnv):
        super().__init__(venv)
        self.seconds = 0.0

    def reset(self) -> Any:
        return self.venv.reset()

    def step_async(self, actions: np.ndarray) -> None:
        self._started = time.perf_counter()
        self.venv.step_async(actions)

    def step_wait(self) -> Any:
        observation, reward, done, info = self.venv.step_wait()
        self.seconds += time.perf_counter() - self._started
        return observation, REWARD_SCALE * reward, done, info


class Progress(BaseCallback):
    """Progress bar, evaluations on seeds of their own whose time does not count as training, the best policy so far."""

    def __init__(self, env_id: str, steps: int):
        super().__init__()
        self.env_id, self.steps = env_id, steps
        self.history: list[dict[str, float]] = []
        self.evaluation_seconds = 0.0
        self.next_check = CHECK_EVERY
        self.best_success, self.best_steps, self.best_weights = -1.0, 0, {}

    def _on_training_start(self) -> None:
        self.started = time.perf_counter()
        self.bar = tqdm(total=self.steps, unit="step", unit_scale=True, desc=self.env_id, mininterval=1)

    def training_seconds(self) -> float:
        return time.perf_counter() - self.started - self.evaluation_seconds

    def _on_step(self) -> bool:
        self.bar.update(self.num_timesteps - self.bar.n)
        return True

    def _on_rollout_start(self) -> None:
        # after an update, before the next rollout: the policy is a finished one
        if self.num_timesteps >= self.next_check:
            self.check()
            self.next_check += CHECK_EVERY if self.history[-1]["success"] < 0.95 else 3 * CHECK_EVERY

    def check(self) -> None:
        seconds, begun = self.training_seconds(), time.perf_counter()
        result = evaluate(self.env_id, greedy_policy(self.env_id, self.model), CHECK_SEEDS)
        self.evaluation_seconds += time.perf_counter() - begun
        self.history.append({"steps": self.num_timesteps, "seconds": seconds, **result})
        if result["success"] >= self.best_success:
            self.best_success, self.best_steps = result["success"], self.num_timesteps
            self.best_weights = {name: w.clone() for name, w in self.model.policy.state_dict().items()}
        for key in ("success", "collision", "timeout", "spl", "return"):
            self.logger.record(f"evaluation/{key}", result[key])
        self.bar.set_postfix(success=f"{100 * result['success']:.1f} %", seconds=f"{seconds:.0f}")

    def _on_training_end(self) -> None:
        self.seconds = self.training_seconds()
        self.bar.close()


def greedy_policy(env_id: str, model: Any) -> Any:
    """The deterministic policy on dict observations, as `evaluate` wants it."""
    env = gym.make(env_id)
    flat = FlatObservation(env.observation_space)
    env.close()
    return lambda observation: model.predict(flat(observation), deterministic=True)[0]


def learning_rate(progress_left: float) -> float:
    return LEARNING_RATE * (0.03 + 0.97 * progress_left)


def train(args: argparse.Namespace, out: pathlib.Path) -> tuple[Any, dict[str, Any]]:
    venv = TimedReward(MVSimVecEnv(args.env, num_envs=args.num_envs))
    venv.seed(args.seed * args.num_envs)
    model = PPO(
        "MlpPolicy",
        venv,
        learning_rate=learning_rate,
        policy_kwargs={"net_arch": [64, 64]},
        tensorboard_log=str(out),
        seed=args.seed,
        device="cpu",
        **RECIPE,
    )
    progress = Progress(args.env, args.steps)
    model.learn(args.steps, callback=progress, tb_log_name="tensorboard", log_interval=1)
    progress.check()
    model.policy.load_state_dict(progress.best_weights)
    venv.close()
    reached = [h["seconds"] for h in progress.history if h["success"] >= 0.95]
    return model, {
        "steps": model.num_timesteps,
        "best_steps": progress.best_steps,
        "training_seconds": progress.seconds,
        "seconds_to_95": reached[0] if reached else None,
        "env_steps_per_second": model.num_timesteps / progress.seconds,
        "simulator_steps_per_second": model.num_timesteps / venv.seconds,
        "learner_share": 1 - venv.seconds / progress.seconds,
        "history": progress.history,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--env", default="mvsim/NavArena-v0")
    parser.add_argument("--steps", type=int, help="environment steps (default: what the environment needs)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--episodes", type=int, default=len(HELD_OUT_SEEDS), help="of the final evaluation")
    parser.add_argument("--out", type=pathlib.Path, help="output folder (default runs/<env>-seed<seed>)")
    parser.add_argument("--no-baselines", action="store_true", help="leave the scripted baselines out")
    parser.add_argument("--no-video", action="store_true", help="leave the film of an episode out")
    args = parser.parse_args()
    args.steps = args.steps or DEFAULT_STEPS.get(args.env, 2_000_000)
    out = args.out or pathlib.Path("runs") / f"{args.env.split('/')[-1]}-seed{args.seed}"
    out.mkdir(parents=True, exist_ok=True)

    model, metrics = train(args, out)
    model.save(out / "model.zip")
    seeds = HELD_OUT_SEEDS[: args.episodes]
    rows = {"PPO": evaluate(args.env, greedy_policy(args.env, model), seeds)}
    if not args.no_baselines:
        rows |= {name: evaluate(args.env, policy, seeds) for name, policy in policies(args.env).items()}
    metrics = {
        "env": args.env,
        "seed": args.seed,
        **rows["PPO"],
        **metrics,
        "baselines": {name: row for name, row in rows.items() if name != "PPO"},
        "machine": {
            "cpu": cpu_name(),
            "threads": torch.get_num_threads(),
            "python": platform.python_version(),
        },
    }
    (out / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n")
    plot_learning_curve(metrics, out / "learning_curve.png")
    film = None if args.no_video else record_episode(args.env, greedy_policy(args.env, model), out)

    print(f"\n{args.env}, {len(seeds)} held-out episodes\n\n{table(rows)}\n")
    to_95 = metrics["seconds_to_95"]
    print(
        f"{metrics['steps']:,} steps in {metrics['training_seconds']:.1f} s "
        f"({metrics['env_steps_per_second']:,.0f} steps/s, {100 * metrics['learner_share']:.0f} % of it the learner); "
        + (f"95 % success after {to_95:.1f} s" if to_95 else "95 % success not reached")
    )
    print(f"wrote {out}/metrics.json, learning_curve.png" + (f", {film.name}" if film else ""))


def cpu_name() -> str:
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


if __name__ == "__main__":
    main()
