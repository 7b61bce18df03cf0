"""Policies of learning libraries as files: those of the libraries, where they are installed (`./dev learners`), and
modules of the same form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mvsim_gym import VectorEnv
from mvsim_gym.deploy import load_policy

pytest.importorskip("torch", reason="needs the extra export")
pytest.importorskip("onnx", reason="needs the extra export")
pytest.importorskip("onnxruntime", reason="needs the extra deploy")

import torch

from mvsim_gym.deploy.export import export_policy
from mvsim_gym.deploy.of_rllib import RLlibPolicy
from mvsim_gym.deploy.of_skrl import SkrlPolicy

NAV = "mvsim/NavArena-v0"
SIZE = 41
pytestmark = [pytest.mark.unsanitized, pytest.mark.filterwarnings("default")]
learners = [pytest.mark.slow, pytest.mark.learners]


def network(outputs: int) -> Any:
    torch.manual_seed(0)
    nn = torch.nn
    return nn.Sequential(nn.Linear(SIZE, 16), nn.Tanh(), nn.Linear(16, outputs))


def flat_observations(count: int = 64) -> tuple[dict[str, np.ndarray], Any]:
    """Observations of resets by key, and the vectors that a policy was trained on."""
    named = VectorEnv(NAV, num_envs=count).reset(seed=0)[0]
    flat = VectorEnv(NAV, num_envs=count, flatten=True).reset(seed=0)[0]
    return named, torch.from_numpy(np.array(flat))


def check(module: Any, expected: Any, place: Path) -> None:
    """The exported policy gives the actions that the library's own calls give for the vectors of `flatten=True`."""
    contract = export_policy(module, NAV, place / "policy")
    assert contract["policy"]["largest_difference"] < 1e-5
    named, flat = flat_observations()
    with torch.no_grad():
        wanted = expected(flat).clamp(-1, 1).numpy()
    found = load_policy(place / "policy")(named)
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    assert np.std(found, axis=0).min() > 1e-4


class OfSkrl(torch.nn.Module):
    """A model with the calls of skrl's that an export uses."""

    def __init__(self, rnn: dict[str, Any]) -> None:
        super().__init__()
        self.net, self._rnn = network(2), rnn

    def get_specification(self) -> dict[str, Any]:
        return {"rnn": self._rnn} if self._rnn else {}

    def compute(self, inputs: dict[str, Any], role: str = "") -> Any:
        return self.net(inputs["observations"]), {"log_std": torch.zeros(2)}


def test_a_model_of_the_form_of_skrl(tmp_path: Path) -> None:
    model = OfSkrl({})

    class Scaler(torch.nn.Module):
        def forward(self, rows: Any) -> Any:
            return torch.clamp(rows / 2, -1, 1)

    check(SkrlPolicy(model, Scaler()), lambda flat: model.net(torch.clamp(flat / 2, -1, 1)), tmp_path)
    with pytest.raises(ValueError, match="recurrent"):
        SkrlPolicy(OfSkrl({"sizes": [8]}))
    model.net = network(4)
    with pytest.raises(ValueError, match="found an action of 4 values, expected 2"):
        export_policy(SkrlPolicy(model), NAV, tmp_path / "other")


class OfRLlib(torch.nn.Module):
    """A module with the calls of RLlib's that an export uses."""

    def __init__(self, stateful: bool = False) -> None:
        super().__init__()
        self.net, self._stateful = network(4), stateful

    def is_stateful(self) -> bool:
        return self._stateful

    def forward_inference(self, batch: dict[str, Any]) -> dict[str, Any]:
        return {"action_dist_inputs": self.net(batch["obs"])}

    def get_inference_action_dist_cls(self) -> Any:
        return OfRLlibActions


class OfRLlibActions:
    """A normal distribution by its mean."""

    def __init__(self, mean: Any) -> None:
        self._mean = mean

    @classmethod
    def from_logits(cls, logits: Any) -> OfRLlibActions:
        return cls(logits.chunk(2, dim=-1)[0])

    def to_deterministic(self) -> OfRLlibActions:
        return self

    def sample(self) -> Any:
        return self._mean


def test_a_module_of_the_form_of_rllib(tmp_path: Path) -> None:
    from mvsim_gym.deploy.network import ScaledVector

    module = OfRLlib()
    check(RLlibPolicy(module), lambda flat: module.net(flat)[:, :2], tmp_path / "plain")
    space: Any = VectorEnv(NAV, num_envs=1, flatten=True).single_observation_space
    low, high = torch.from_numpy(space.low), torch.from_numpy(space.high)
    check(
        RLlibPolicy(module, ScaledVector(space)),
        lambda flat: module.net(2 * (flat - low) / (high - low) - 1)[:, :2],
        tmp_path / "scaled",
    )
    with pytest.raises(ValueError, match="recurrent"):
        RLlibPolicy(OfRLlib(stateful=True))


class TestRealLibraries:
    """The libraries themselves."""

    pytestmark = learners

    def test_torchrl(self, tmp_path: Path) -> None:
        pytest.importorskip("torchrl")
        from tensordict.nn import NormalParamExtractor, TensorDictModule
        from torchrl.modules import ProbabilisticActor, TanhNormal

        from mvsim_gym.deploy.of_torchrl import TorchRLPolicy

        net = torch.nn.Sequential(network(4), NormalParamExtractor())
        actor = ProbabilisticActor(
            TensorDictModule(net, ["observation"], ["loc", "scale"]),
            in_keys=["loc", "scale"],
            distribution_class=TanhNormal,
            return_log_prob=True,
        )
        check(TorchRLPolicy(actor), lambda flat: torch.tanh(net(flat)[0]), tmp_path)
        with pytest.raises(ValueError, match="to 'action'"):
            TorchRLPolicy(TensorDictModule(net, ["observation"], ["loc", "scale"]))

    def test_skrl(self, tmp_path: Path) -> None:
        pytest.importorskip("skrl")
        from gymnasium import spaces
        from skrl.models.torch import GaussianMixin, Model
        from skrl.resources.preprocessors.torch import RunningStandardScaler

        class Policy(GaussianMixin, Model):
            def __init__(self, **its: Any) -> None:
                Model.__init__(self, **its)
                GaussianMixin.__init__(self)
                self.net, self.log_std = network(2), torch.nn.Parameter(torch.zeros(2))

            def compute(self, inputs: dict[str, Any], role: str = "") -> Any:
                return self.net(inputs["observations"]), {"log_std": self.log_std}

        seen = spaces.Box(-np.inf, np.inf, (SIZE,), np.float32)
        policy = Policy(
            observation_space=seen, action_space=spaces.Box(-1, 1, (2,), np.float32), device="cpu"
        )
        scaler = RunningStandardScaler(size=seen, device="cpu")
        scaler(flat_observations()[1], train=True)
        check(
            SkrlPolicy(policy, scaler),
            lambda flat: policy.act({"observations": scaler(flat)}, role="policy")[1]["mean_actions"],
            tmp_path,
        )

    def test_rllib(self, tmp_path: Path) -> None:
        pytest.importorskip("ray.rllib")
        from gymnasium import spaces
        from ray.rllib.algorithms.ppo.ppo_catalog import PPOCatalog
        from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
        from ray.rllib.core.rl_module import RLModuleSpec

        module: Any = RLModuleSpec(
            DefaultPPOTorchRLModule,
            observation_space=spaces.Box(-np.inf, np.inf, (SIZE,), np.float32),
            action_space=spaces.Box(-1, 1, (2,), np.float32),
            inference_only=True,
            model_config={"fcnet_hiddens": [16]},
            catalog_class=PPOCatalog,
        ).build()
        check(
            RLlibPolicy(module),
            lambda flat: module.forward_inference({"obs": flat})["action_dist_inputs"][:, :2],
            tmp_path,
        )
