"""Progress of a training run: a bar, evaluations, an estimate of its time, models on disk."""

from __future__ import annotations

import math
import pathlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import checkpoints
import torch
from evaluation import Result
from recipes import Recipe
from run_folder import write_whole
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from task import Task
from tqdm import tqdm

if TYPE_CHECKING:
    from train_ppo import TimedReward

CHECK_SEEDS = range(2_000_000, 2_002_000)  # of evaluations during training; the final ones are others
GOOD = 0.95  # of a few of them: from then on evaluations are of more of them,
CHOOSE_EVERY = 250_000  # environment steps apart
FILM_SECONDS = 15  # about what the film of an episode takes where it is drawn in software


def save(model: BaseAlgorithm, path: pathlib.Path) -> None:
    """Write a model so that the file at `path` is whole at any time."""
    write_whole(path, model.save)


class Progress(BaseCallback):
    """Evaluations on seeds of their own, from step 0 on, whose time does not count as training; checkpoints.

    The evaluated policy is the running mean of the policies after each update, which varies less than any of them.
    `model.zip` in the folder is the best of it in all evaluations so far, `last.zip` the policy as it is, and the
    checkpoint what it takes to go on, with the `options` of the run.
    """

    def __init__(
        self,
        task: Task,
        recipe: Recipe,
        folder: pathlib.Path,
        episodes: int,
        policies: int,
        film: bool,
        save_every: float = 30.0,
        options: dict[str, Any] | None = None,
    ):
        super().__init__()
        self.save_every, self.options = save_every, options or {}  # s between checkpoints
        self.resumed: checkpoints.State | None = None  # where the first rollout begins
        self.seconds: float | None = None  # of a training that has ended,
        self.busy: float | None = None  # and of the processors
        self.task, self.recipe, self.steps, self.folder = task, recipe, recipe.steps, folder
        self.final_episodes, self.final_policies, self.film = episodes, policies, film
        # of several agents each has an episode
        self.few, self.many = (CHECK_SEEDS[: count // task.agents] for count in recipe.check_episodes)
        self.history: list[Result] = []
        self.away = 0.0  # s spent on evaluations and files,
        self.processor_away = 0.0  # and of the processors
        self.next_check = 0
        self.rollouts = 0
        self.best, self.best_success, self.best_steps = -1.0, -1.0, 0
        self.good = False  # whether a check found GOOD
        self.mean: list[torch.Tensor] = []
        self.last_check = 0.0  # s that an episode of the last one took
        self.venv: TimedReward  # what is stepped while it learns

    def _on_training_start(self) -> None:
        self.begin_at(0, 0, 0)
        self.bar = tqdm(total=self.steps, unit="step", unit_scale=True, desc="training", mininterval=1)

    def begin_at(self, seconds: float, busy: float, simulator: float) -> None:
        """The training has taken so much time up to now, of that the processors and the simulator so much."""
        self.away = self.processor_away = 0.0
        self.saved = time.perf_counter()
        self.started, self.processor_started = self.saved - seconds, time.process_time() - busy
        self.venv.seconds = simulator

    def training_seconds(self) -> float:
        return time.perf_counter() - self.started - self.away if self.seconds is None else self.seconds

    def processor_seconds(self) -> float:
        """Returns the processor time of all threads together."""
        if self.busy is not None:
            return self.busy
        return time.process_time() - self.processor_started - self.processor_away

    def _on_step(self) -> bool:
        self.bar.update(min(self.num_timesteps, self.steps) - self.bar.n)
        return True

    def _on_rollout_start(self) -> None:
        # after an update, before the next rollout: the policy is a finished one
        if self.resumed is not None:  # the checkpoint was written at the end of this function
            checkpoints.put_back(self, self.resumed)
            self.resumed = None
            return
        self.take_mean()
        checks = self.num_timesteps >= self.next_check
        if checks:
            self.check()
            self.next_check += self.check_every()
        if self.rollouts == 2:
            self.estimate()
        self.rollouts += 1
        if checks or time.perf_counter() - self.saved >= self.save_every:
            self.save_last()
            checkpoints.save(self, self.options)
            self.saved = time.perf_counter()

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
        self.busy, self.seconds = self.processor_seconds(), self.training_seconds()
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
