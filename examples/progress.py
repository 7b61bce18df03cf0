"""What a training run shows and keeps while it goes on: a bar, evaluations, an estimate of its time, models on disk."""

from __future__ import annotations

import os
import pathlib
import time

import numpy as np
from evaluation import Policy, Result, evaluate
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from tqdm import tqdm

import mvsim_gym
from mvsim_gym.sb3 import FlatObservation

CHECK_SEEDS = range(2_000_000, 2_000_400)  # of evaluations during training; the final 500 are others
CHECK_EVERY = 200_000  # environment steps between evaluations
SAVE_EVERY = 20.0  # s between copies of the latest model
FILM_SECONDS = 15  # about what the film of an episode takes where it is drawn in software


def greedy_policy(env: str, model: BaseAlgorithm) -> Policy:
    """The deterministic policy on dict observations, as `evaluate` wants it."""
    core = mvsim_gym.Env(env)
    flat = FlatObservation(core.observation_space)
    core.close()
    return lambda observation: np.asarray(model.predict(flat(observation), deterministic=True)[0])


def save(model: BaseAlgorithm, path: pathlib.Path) -> None:
    """Write a model so that the file at `path` is whole at any time: the old one or the new one."""
    new = path.with_name(f".{path.name}.new")
    model.save(new)
    os.replace(new, path)


class Progress(BaseCallback):
    """Evaluations on seeds of their own, from step 0 on, whose time does not count as training.

    `model.zip` in the folder is the best policy of all evaluations so far, `last.zip` the latest one.
    """

    def __init__(self, env: str, steps: int, folder: pathlib.Path, episodes: int, policies: int, film: bool):
        super().__init__()
        self.env, self.steps, self.folder = env, steps, folder
        self.final_episodes, self.final_policies, self.film = episodes, policies, film
        self.history: list[Result] = []
        self.away = 0.0  # s spent on evaluations and files
        self.next_check = 0
        self.rollouts = 0
        self.simulator_seconds = 0.0
        self.best_success, self.best_steps = -1.0, 0

    def _on_training_start(self) -> None:
        self.started = self.saved = time.perf_counter()
        self.bar = tqdm(total=self.steps, unit="step", unit_scale=True, desc="training", mininterval=1)

    def training_seconds(self) -> float:
        return time.perf_counter() - self.started - self.away

    def _on_step(self) -> bool:
        self.bar.update(min(self.num_timesteps, self.steps) - self.bar.n)
        return True

    def _on_rollout_start(self) -> None:
        # after an update, before the next rollout: the policy is a finished one
        if self.num_timesteps >= self.next_check:
            self.check()
            self.next_check += CHECK_EVERY if self.history[-1]["success"] < 0.95 else 3 * CHECK_EVERY
        elif time.perf_counter() - self.saved > SAVE_EVERY:
            self.save_last()
        if self.rollouts == 2:
            self.estimate()
        self.rollouts += 1

    def check(self) -> None:
        """Evaluate the policy as it is; keep it if none was better."""
        seconds, begun = self.training_seconds(), time.perf_counter()
        policy = greedy_policy(self.env, self.model)
        result = evaluate(self.env, policy, CHECK_SEEDS, title=f"check at step {self.num_timesteps:,}")
        self.history.append({"steps": self.num_timesteps, "seconds": seconds, **result})
        if result["success"] >= self.best_success:
            self.best_success, self.best_steps = result["success"], self.num_timesteps
            save(self.model, self.folder / "model.zip")
        self.save_last()
        for key, value in {
            "success": result["success"],
            "return": result["return"],
            **result["failures"],
        }.items():
            self.logger.record(f"evaluation/{key}", value)
        self.bar.set_postfix(success=f"{100 * result['success']:.1f} %")
        self.last_check = time.perf_counter() - begun
        self.away += self.last_check

    def save_last(self) -> None:
        save(self.model, self.folder / "last.zip")
        self.saved = time.perf_counter()

    def estimate(self) -> None:
        """Say how long all of it will take, by the first rollouts and the first evaluation."""
        training = self.training_seconds() / self.num_timesteps * self.steps
        checks = self.last_check * (1 + self.steps / CHECK_EVERY)
        final = self.last_check * self.final_policies * self.final_episodes / len(CHECK_SEEDS)
        final += FILM_SECONDS if self.film else 0
        what = "final evaluation and film" if self.film else "final evaluation"
        tqdm.write(
            f"about {span(training + checks + final)} in all: {span(training)} of training, "
            f"up to {span(checks)} of checks between, {span(final)} of {what}"
        )

    def _on_training_end(self) -> None:
        self.seconds = self.training_seconds()
        self.bar.close()


def span(seconds: float) -> str:
    """A time in words, rounded."""
    return f"{max(seconds, 1):.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
