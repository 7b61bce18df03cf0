"""What a training run shows and keeps while it goes on: a bar, evaluations, an estimate of its time, models on disk."""

from __future__ import annotations

import math
import os
import pathlib
import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from evaluation import Result
from recipes import Recipe
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from task import Task
from tqdm import tqdm

CHECK_SEEDS = range(2_000_000, 2_002_000)  # of evaluations during training; the final ones are others
GOOD = 0.95  # of a few of them: from then on evaluations are of more of them,
CHOOSE_EVERY = 250_000  # environment steps apart
SAVE_EVERY = 20.0  # s between copies of the latest model
FILM_SECONDS = 15  # about what the film of an episode takes where it is drawn in software


def save(model: BaseAlgorithm, path: pathlib.Path) -> None:
    """Write a model so that the file at `path` is whole at any time: the old one or the new one."""
    new = path.with_name(f".{path.name}.new")
    model.save(new)
    os.replace(new, path)


class Progress(BaseCallback):
    """Evaluations on seeds of their own, from step 0 on, whose time does not count as training.

    What is evaluated is the running mean of the policy after each update, which varies less than any one of them.
    `model.zip` in the folder is the best of it in all evaluations so far, `last.zip` the policy as it is.
    """

    def __init__(
        self, task: Task, recipe: Recipe, folder: pathlib.Path, episodes: int, policies: int, film: bool
    ):
        super().__init__()
        self.task, self.recipe, self.steps, self.folder = task, recipe, recipe.steps, folder
        self.final_episodes, self.final_policies, self.film = episodes, policies, film
        # of several agents each has an episode
        self.few, self.many = (CHECK_SEEDS[: count // task.agents] for count in recipe.check_episodes)
        self.history: list[Result] = []
        self.away = 0.0  # s spent on evaluations and files,
        self.processor_away = 0.0  # and of the processors
        self.next_check = 0
        self.rollouts = 0
        self.simulator_seconds = 0.0
        self.best, self.best_success, self.best_steps = -1.0, -1.0, 0
        self.good = False  # whether a check found GOOD
        self.mean: list[torch.Tensor] = []

    def _on_training_start(self) -> None:
        self.started = self.saved = time.perf_counter()
        self.processor_started = time.process_time()
        self.bar = tqdm(total=self.steps, unit="step", unit_scale=True, desc="training", mininterval=1)

    def training_seconds(self) -> float:
        return time.perf_counter() - self.started - self.away

    def processor_seconds(self) -> float:
        """Of all threads together."""
        return time.process_time() - self.processor_started - self.processor_away

    def _on_step(self) -> bool:
        self.bar.update(min(self.num_timesteps, self.steps) - self.bar.n)
        return True

    def _on_rollout_start(self) -> None:
        # after an update, before the next rollout: the policy is a finished one
        self.take_mean()
        if self.num_timesteps >= self.next_check:
            self.check()
            self.next_check += self.check_every()
        elif time.perf_counter() - self.saved > SAVE_EVERY:
            self.save_last()
        if self.rollouts == 2:
            self.estimate()
        self.rollouts += 1

    def check_every(self) -> int:
        return CHOOSE_EVERY if self.good else self.recipe.check_every

    def take_mean(self) -> None:
        """The policy as it is joins the running mean; of the first ones it is their mean."""
        weights = list(self.model.policy.parameters())
        if not self.mean:
            self.mean = [weight.detach().clone() for weight in weights]
        share = max(1 - self.recipe.averaging, 1 / (1 + self.rollouts))
        for mean, weight in zip(self.mean, weights, strict=True):
            mean.lerp_(weight.detach(), share)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """The model has the mean for weights."""
        weights = list(self.model.policy.parameters())
        own = [weight.detach().clone() for weight in weights]
        put(weights, self.mean)
        try:
            yield
        finally:
            put(weights, own)

    def check(self) -> None:
        """Evaluate the mean as it is, on all seeds once the policy is good; keep it if none was better."""
        seconds, begun, busy = self.training_seconds(), time.perf_counter(), time.process_time()
        seeds = self.many if self.good else self.few
        with self.averaged():
            policy = self.task.greedy_policy(self.model)
            result = self.task.evaluate(policy, seeds, title=f"check at step {self.num_timesteps:,}")
            score = surely(result["success"], len(seeds) * self.task.agents)
            if score >= self.best:
                self.best, self.best_success, self.best_steps = score, result["success"], self.num_timesteps
                save(self.model, self.folder / "model.zip")
        self.good |= result["success"] >= GOOD
        self.history.append({"steps": self.num_timesteps, "seconds": seconds, **result})
        self.save_last()
        shown = {"success": result["success"], "return": result["return"], **result["failures"]}
        for key, value in shown.items():
            self.logger.record(f"evaluation/{key}", value)
        self.bar.set_postfix(success=f"{100 * result['success']:.1f} %")
        self.last_check = (time.perf_counter() - begun) / len(seeds)
        self.away += time.perf_counter() - begun
        self.processor_away += time.process_time() - busy

    def save_last(self) -> None:
        save(self.model, self.folder / "last.zip")
        self.saved = time.perf_counter()

    def estimate(self) -> None:
        """Say how long all of it will take, by the first rollouts and the first evaluation."""
        training = self.training_seconds() / self.num_timesteps * self.steps
        checks = self.last_check * max(
            len(self.few) * self.steps / self.recipe.check_every,
            len(self.many) * self.steps / CHOOSE_EVERY,
        )
        final = self.last_check * self.final_policies * self.final_episodes
        final += FILM_SECONDS if self.film else 0
        what = "final evaluation and film" if self.film else "final evaluation"
        tqdm.write(
            f"about {span(training + checks + final)} in all: {span(training)} of training, "
            f"up to {span(checks)} of checks between, {span(final)} of {what}"
        )

    def _on_training_end(self) -> None:
        self.seconds, self.busy = self.training_seconds(), self.processor_seconds()
        self.bar.close()


def surely(success: float, episodes: int) -> float:
    """The rate of success that so many episodes make sure of: the lower end of Wilson's interval of 95 %. A better rate
    of few episodes is worth less than nearly the same one of many, and a much better one more."""
    z = 1.645  # one side
    middle = success + z * z / (2 * episodes)
    return (middle - z * math.sqrt(success * (1 - success) / episodes + z * z / (4 * episodes**2))) / (
        1 + z * z / episodes
    )


def put(weights: list[torch.nn.Parameter], values: list[torch.Tensor]) -> None:
    with torch.no_grad():
        for weight, value in zip(weights, values, strict=True):
            weight.copy_(value)


def span(seconds: float) -> str:
    """A time in words, rounded."""
    return f"{max(seconds, 1):.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
