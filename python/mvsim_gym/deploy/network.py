"""Networks of learning libraries as PyTorch modules from the observations of an environment to its action, and the
statistics of `VecNormalize` of Stable-Baselines3, which its models lack."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from mvsim_gym.tools.policy import is_normalized, network_of, trained_space
from mvsim_gym.vector_env import VectorEnv

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecNormalize

NONE = "none"
"""Says that a model took observations as they are, and that rewards alone were normalised."""


class Deterministic(nn.Module):
    """A network that takes observations in the order of `keys`, with a row for each robot, and returns actions in [-1,
    1]. `size` is the number of an action's values, if it is known."""

    def __init__(
        self, keys: Sequence[str], act: Callable[[dict[str, Tensor]], Tensor], own: nn.Module, size: int = 0
    ) -> None:
        super().__init__()
        self.keys, self._act, self.own, self._size = list(keys), act, own, size

    def forward(self, *observations: Tensor) -> Tensor:
        """Returns actions (n, size)."""
        named = dict(zip(self.keys, observations, strict=True))
        action = self._act(named)
        if self._size:
            action = _sized(action, self._size)
        return action.clamp(-1.0, 1.0)


class Recurrent(nn.Module):
    """A network with a state. It takes observations in the order of `keys` and then its states, with a row for each
    robot, and returns actions in [-1, 1] and its next states.

    Args:
        act: from observations by key, and states (n, *shape), to actions and next states.
        state_shapes: the shape of each state of one robot. States are zero at the begin of an episode.
        own: the parameters.
    """

    def __init__(
        self,
        keys: Sequence[str],
        act: Callable[[dict[str, Tensor], tuple[Tensor, ...]], tuple[Tensor, Sequence[Tensor]]],
        state_shapes: Sequence[Sequence[int]],
        own: nn.Module,
        size: int = 0,
    ) -> None:
        super().__init__()
        self.keys, self._act, self.own, self._size = list(keys), act, own, size
        self.state_shapes = tuple(tuple(int(size) for size in shape) for shape in state_shapes)

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Returns actions (n, size) and states."""
        count = len(self.keys)
        action, states = self._act(dict(zip(self.keys, inputs[:count], strict=True)), inputs[count:])
        found = [tuple(map(int, state.shape[1:])) for state in states]
        if found != list(self.state_shapes):
            raise ValueError(f"found states of the shapes {found}, expected {list(self.state_shapes)}")
        if self._size:
            action = _sized(action, self._size)
        return action.clamp(-1.0, 1.0), *states


def _sized(action: Tensor, size: int) -> Tensor:
    """States the size of actions in the graph, from which it may not follow, as after a split."""
    if int(action.shape[-1]) != size:
        raise ValueError(f"found an action of {int(action.shape[-1])} values, expected {size}")
    return action.reshape(-1, size)


class Vector(nn.Module):
    """Joins observations to the vector of `flatten=True`."""

    def forward(self, seen: Mapping[str, Tensor]) -> Tensor:
        """Returns (n, sum of sizes) for observations by key (n, size)."""
        return torch.cat([seen[key].float() for key in sorted(seen)], dim=-1)


class ScaledVector(nn.Module):
    """Joins observations to a vector that is scaled by their bounds to [-1, 1], as `register(..., scaled=True)` of
    RLlib's adapter does.

    Args:
        space: the environment's `single_observation_space` with `flatten=True`.
    """

    def __init__(self, space: spaces.Box) -> None:
        super().__init__()
        from mvsim_gym.learners._flat import scaling

        by = scaling(space.low, space.high)
        self.factor, self.offset = _buffer(by.factor), _buffer(by.offset)
        self.low, self.high = _buffer(by.space.low), _buffer(by.space.high)

    def forward(self, seen: Mapping[str, Tensor]) -> Tensor:
        """Returns (n, sum of sizes) for observations by key (n, size)."""
        joined = torch.cat([seen[key].float() for key in sorted(seen)], dim=-1)
        return torch.minimum(torch.maximum(joined * self.factor + self.offset, self.low), self.high)


class _Scaled(nn.Module):
    """Scales observations as `MVSimVecEnv` and `mvsim_gym.learners.sb3.FlatObservation` do."""

    def __init__(self, space: spaces.Dict) -> None:
        super().__init__()
        boxes: dict[str, Any] = dict(space.spaces)
        self._pictures = [key for key, box in boxes.items() if len(box.shape) > 1]
        self._vectors = [key for key in boxes if key not in self._pictures]
        self._boxes = boxes
        low, high = (
            np.concatenate([np.empty(0), *(getattr(boxes[key], bound) for key in self._vectors)])
            for bound in ("low", "high")
        )
        from mvsim_gym.learners._flat import scaling

        by = scaling(low.astype(np.float32), high.astype(np.float32))
        self.factor, self.offset = _buffer(by.factor), _buffer(by.offset)
        self.low, self.high = _buffer(by.space.low), _buffer(by.space.high)
        self._parts = {key: self._scale(key) for key in self._pictures}

    def _scale(self, key: str) -> tuple[Tensor, Tensor] | None:
        box = self._boxes[key]
        if box.dtype != np.float32:
            return None
        return _buffer(box.low), _buffer(np.where(box.high > box.low, box.high - box.low, np.float32(1)))

    def forward(self, observation: Mapping[str, Tensor]) -> Any:
        vector = None
        if self._vectors:
            joined = torch.cat([observation[key].float() for key in self._vectors], dim=-1)
            vector = torch.minimum(torch.maximum(joined * self.factor + self.offset, self.low), self.high)
        if not self._pictures:
            return vector
        out = {key: self._picture(key, observation[key]) for key in self._pictures}
        return out if vector is None else {**out, "vector": vector}

    def _picture(self, key: str, rows: Tensor) -> Tensor:
        parts, box = self._parts[key], self._boxes[key]
        if parts is not None:
            rows = (rows - parts[0]) / parts[1]
        shape = box.shape
        if box.dtype == np.uint8 and len(shape) > 2 and shape[-1] == 3:
            last = rows.dim() - 1  # no negative axes, which ONNX refuses
            axes = [*range(last - 2), last, last - 2, last - 1]
            rows, shape = rows.permute(axes), (*shape[:-3], 3, *shape[-3:-1])
        channels = int(np.prod(shape[:-2]))
        return rows.reshape(-1, channels, *shape[-2:])


class _Normalized(nn.Module):
    """Normalises observations as `VecNormalize` does, in double precision."""

    def __init__(self, statistics: VecNormalize) -> None:
        super().__init__()
        self._largest = float(statistics.clip_obs)
        rms: Any = statistics.obs_rms if statistics.norm_obs else {}
        parts = rms if isinstance(rms, dict) else {None: rms}
        self._parts: dict[str | None, tuple[Tensor, Tensor]] = {
            key: (torch.from_numpy(part.mean), torch.from_numpy(np.sqrt(part.var + statistics.epsilon)))
            for key, part in parts.items()
        }

    def forward(self, seen: Any) -> Any:
        """Returns the observations for observations of the same form."""
        if None in self._parts:
            return self._of(seen, None)
        if not self._parts:
            return seen
        return {key: self._of(rows, key) if key in self._parts else rows for key, rows in seen.items()}

    def _of(self, rows: Tensor, key: str | None) -> Tensor:
        mean, deviation = self._parts[key]
        return ((rows.double() - mean) / deviation).clamp(-self._largest, self._largest).float()


def module_of_model(
    path: str, env_id: str, envs: VectorEnv, statistics: VecNormalize | None = None
) -> Deterministic | Recurrent:
    """Returns the network of a Stable-Baselines3 model (PPO, A2C, SAC, TD3, DDPG and others with their policies, and
    RecurrentPPO of sb3-contrib).

    Args:
        statistics: of `VecNormalize`, if it was trained in one.

    Raises:
        ValueError: the file is no such model, is for another environment, or of a kind that gives no action.
    """
    policy, form = network_of(path, env_id, envs)
    space = envs.single_observation_space
    assert isinstance(space, spaces.Dict)
    scaled = _Scaled(space)
    normalized = _Normalized(statistics) if statistics is not None else nn.Identity()

    def see(observation: dict[str, Tensor]) -> Any:
        if form.kind == "scaled":
            seen = scaled(observation)
        elif form.kind == "dict":
            seen = {key: value.float() for key, value in observation.items()}
        else:
            seen = torch.cat([value.float() for value in observation.values()], dim=-1)
        return normalized(seen[form.key] if form.key else seen)

    keys = list(space.spaces)
    if hasattr(policy, "lstm_actor"):
        lstm = policy.lstm_actor
        if lstm.bidirectional or lstm.proj_size:
            raise ValueError("found an LSTM in both directions or with a projection, expected a plain one")
        shape = (lstm.num_layers, lstm.hidden_size)

        def act(seen: dict[str, Tensor], states: tuple[Tensor, ...]) -> tuple[Tensor, Sequence[Tensor]]:
            return _recurrent_action(policy, see(seen), states)

        return Recurrent(keys, act, (shape, shape), policy).eval()
    return Deterministic(keys, lambda seen: _action(policy, see(seen)), policy).eval()


def _recurrent_action(
    policy: Any, seen: Any, states: tuple[Tensor, ...]
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Returns the action of `predict(deterministic=True)` of RecurrentPPO and the states, a row for each robot."""
    own = _actor_features(policy, seen)
    hidden, cell = (state.swapaxes(0, 1).contiguous() for state in states)
    latent, after = policy.lstm_actor(own[None], (hidden, cell))
    mean: Tensor = policy.action_net(policy.mlp_extractor.forward_actor(latent[0]))
    action = torch.tanh(mean) if policy.squash_output else mean
    return action, tuple(state.swapaxes(0, 1) for state in after)


def _actor_features(policy: Any, seen: Any) -> Tensor:
    features = policy.extract_features(seen)  # of actor and critic, if they are not shared
    return torch.as_tensor(features if policy.share_features_extractor else features[0])


def _action(policy: Any, seen: Any) -> Tensor:
    """Returns the action of `predict(deterministic=True)` before it is clipped."""
    if hasattr(policy, "mlp_extractor"):  # PPO, A2C
        mean: Tensor = policy.action_net(policy.mlp_extractor.forward_actor(_actor_features(policy, seen)))
        return torch.tanh(mean) if policy.squash_output else mean
    if hasattr(policy, "actor"):  # SAC, TD3, DDPG
        actor = policy.actor
        features = actor.extract_features(seen, actor.features_extractor)
        if hasattr(actor, "latent_pi"):
            return torch.tanh(actor.mu(actor.latent_pi(features)))
        return torch.as_tensor(actor.mu(features))
    raise ValueError(
        f"found a policy of the class {type(policy).__name__}, expected one of PPO, A2C, SAC or TD3"
    )


def actor_of_weights(path: str | os.PathLike[str], space: spaces.Dict) -> Deterministic:
    """Returns the network of weights that `examples/ppo.py --out` wrote: linear layers with tanh between them, on the
    scaled vector of `flatten=True`. Only weights are loaded, so no code runs.

    Raises:
        ValueError: the weights are of another form or for another environment.
    """
    state = torch.load(path, map_location="cpu", weights_only=True)
    layers = sorted({int(name.split(".")[1]) for name in state if name.startswith("actor.")})
    if not layers or "scale" not in state:
        raise ValueError(
            f"{os.fspath(path)}: found no weights 'actor.*' and 'scale', as examples/ppo.py writes them"
        )
    parts: list[nn.Module] = []
    for layer in layers:
        weight, bias = state[f"actor.{layer}.weight"], state[f"actor.{layer}.bias"]
        linear = nn.Linear(weight.shape[1], weight.shape[0])
        linear.load_state_dict({"weight": weight, "bias": bias})
        parts += [linear, nn.Tanh()]
    actor = nn.Sequential(*parts[:-1])
    scale, offset = state["scale"], state["offset"]
    size = sum(int(np.prod(box.shape)) for box in space.spaces.values() if box.shape is not None)
    if scale.shape[0] != size:
        raise ValueError(f"{os.fspath(path)}: found a network of {scale.shape[0]} inputs, expected {size}")

    def act(seen: dict[str, Tensor]) -> Tensor:
        result: Tensor = actor(Vector()(seen) * scale + offset)
        return result

    return Deterministic(list(space.spaces), act, actor).eval()


def _buffer(values: Any) -> Tensor:
    return torch.from_numpy(np.array(values, np.float32))


def statistics_for(model: str, given: str | os.PathLike[str] | None) -> VecNormalize | None:
    """Returns the statistics of a model, None if it took observations as they are.

    Args:
        model: MODEL.zip of Stable-Baselines3.
        given: the file that `VecNormalize.save` wrote (loading it runs code in it), or "none".

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it has no statistics or those of other observations, or the model needs a file that is not given.
    """
    if given is None:
        if is_normalized(model):
            raise ValueError(
                f"model: '{model}' was trained in VecNormalize, whose statistics are not in it, expected --normalize"
                f" with the file of VecNormalize.save, or --normalize {NONE} if no observations were normalised"
            )
        return None
    if os.fspath(given) == NONE:
        return None
    from stable_baselines3.common.vec_env import VecNormalize

    name = os.fspath(given)
    if not os.path.isfile(name):
        raise FileNotFoundError(f"--normalize: there is no file '{name}'")
    try:
        with open(name, "rb") as file:
            found = pickle.load(file)
    except Exception as error:  # pickle raises many kinds of errors
        raise ValueError(f"--normalize: '{name}' cannot be loaded: {error}") from None
    if not isinstance(found, VecNormalize):
        raise ValueError(
            f"--normalize: found a {type(found).__name__} in '{name}', expected the file of VecNormalize.save"
        )
    trained = trained_space(model)
    rms: Any = found.obs_rms if found.norm_obs else {}
    parts = rms if isinstance(rms, dict) else {None: rms}
    for key, part in parts.items():
        own = trained if key is None else getattr(trained, "spaces", {}).get(key)
        if own is None or part.mean.shape != own.shape:
            raise ValueError(
                f"--normalize: found statistics of {key or 'observations'} of the shape {part.mean.shape} in '{name}',"
                f" expected those of {trained}"
            )
    return found
