"""Runs a policy from a folder with ONNX Runtime. Nothing in the folder is code."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym._notices import extra
from mvsim_gym.deploy.contract import Contract, digest_of, in_folder, read_contract

NETWORK = "policy.onnx"
_MOST_BYTES = 256 << 20
_ONNX_TYPES = {
    "float32": "tensor(float)",
    "uint8": "tensor(uint8)",
    "uint16": "tensor(uint16)",
    "float64": "tensor(double)",
}

Array = npt.NDArray[Any]


class PolicyFile:
    """A loaded policy: `policy(observation)` returns the deterministic action in [-1, 1].

    Its inputs are the unchanged observations of the environment by key. Preprocessing of the training (scaling, order
    of channels) is part of the network. A recurrent policy keeps its state from call to call, and `begin` resets it."""

    def __init__(self, folder: str, contract: Contract, session: Any) -> None:
        self.folder, self.contract = folder, contract
        self._session = session
        self._dtypes = {part.key: np.dtype(part.dtype) for part in contract.observations}
        self._shapes = {part.key: part.shape for part in contract.observations}
        # The network has no input for observations that it does not use.
        self._inputs = frozenset(each.name for each in session.get_inputs())
        self._memory: dict[str, Array] = {}  # states by key, (n, *shape); empty before the first call

    @property
    def keywords(self) -> dict[str, Any]:
        """The keywords of the environment of its training. Paths lie in its folder."""
        return in_folder(self.folder, self.contract.keywords, self.contract.files)

    @property
    def env(self) -> str:
        """The path of the environment file in its folder."""
        return os.path.join(self.folder, self.contract.env)

    @property
    def is_recurrent(self) -> bool:
        """Whether it has a state, so that its actions depend on earlier observations."""
        return bool(self.contract.states)

    def begin(self, rows: npt.NDArray[np.bool_] | None = None) -> None:
        """Begins an episode: resets the state, with a mask (n,) that of some rows of the last call."""
        if rows is None:
            self._memory = {}
        for state in self._memory.values():
            state[np.asarray(rows, bool)] = 0

    def __call__(self, observation: Mapping[str, Array]) -> npt.NDArray[np.float32]:
        """Returns actions for one observation ({key: shape} -> (size,)) or for many ({key: (n, *shape)} -> (n, size)).

        Raises:
            ValueError: a key is missing, or its value has another shape or dtype, or another number of rows since
                `begin`, if the policy is recurrent.
            RuntimeError: the network returns a value that is not finite.
        """
        inputs, lead = {}, None
        for key, shape in self._shapes.items():
            if key not in observation:
                raise ValueError(f"observation: '{key}' is missing")
            value = np.asarray(observation[key])
            own = value.shape[: value.ndim - len(shape)]
            if value.shape[len(own) :] != shape or len(own) > 1 or value.dtype != self._dtypes[key]:
                raise ValueError(
                    f"observation['{key}']: found {value.dtype} of the shape {value.shape}, expected"
                    f" {self._dtypes[key]} of {shape}"
                )
            lead = own
            if key in self._inputs:
                inputs[key] = value if own else value[None]
        rows = lead[0] if lead else 1
        action, *states = self._session.run(None, {**inputs, **self._recalled(rows)})
        if not all(np.isfinite(each).all() for each in (action, *states)):
            raise RuntimeError("the policy gives an action or a state that is not finite")
        # a copy, since a mask of `begin` writes into it
        self._memory = {
            part.key: np.array(each) for part, each in zip(self.contract.states, states, strict=True)
        }
        return np.asarray(action if lead else action[0], np.float32)

    def _recalled(self, rows: int) -> dict[str, Array]:
        """Returns the state of the last call; zeros at the begin."""
        for part in self.contract.states:
            known = self._memory.setdefault(part.key, np.zeros((rows, *part.shape), np.float32))
            if len(known) != rows:
                raise ValueError(f"found {rows} observations, expected {len(known)} as since begin()")
        return self._memory

    def for_envs(
        self, env_id: str, observations: Any, actions: Any
    ) -> Callable[[Mapping[str, Array]], npt.NDArray[np.float32]]:
        """Returns the policy for environments with these spaces. ValueError if it was trained with others."""
        own = {part.key: part.shape for part in self.contract.observations}
        found = {key: box.shape for key, box in observations.spaces.items()}
        if own != found or self.contract.action.shape != actions.shape:
            raise ValueError(
                f"--policy: '{self.folder}' was trained with observations {own} and actions of"
                f" {self.contract.action.shape}, those of '{env_id}' are {found} and {actions.shape}"
            )
        return self


def load_policy(folder: str | os.PathLike[str], *, threads: int = 1) -> PolicyFile:
    """Loads a folder that `mvsim-gym export` wrote. No code in the folder runs: the contract is JSON, and the network
    is a graph of ONNX's own operators.

    Args:
        threads: number of threads of ONNX Runtime.

    Raises:
        FileNotFoundError: a file is missing.
        ImportError: the extra `deploy` is missing.
        ValueError: a file is too large, invalid, or differs from the contract.
    """
    folder = os.fspath(folder)
    contract = read_contract(folder)
    path = os.path.join(folder, NETWORK)
    if not os.path.isfile(path):
        raise FileNotFoundError(f"'{folder}' has no {NETWORK}")
    if os.path.getsize(path) > _MOST_BYTES:
        raise ValueError(f"{path}: found {os.path.getsize(path)} bytes, expected at most {_MOST_BYTES}")
    with open(path, "rb") as file:
        data = file.read()
    if digest_of(data) != contract.digest:
        raise ValueError(f"{path}: its SHA-256 is not the one of the contract")
    with extra("a policy folder", "deploy"):
        import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    options.log_severity_level = 3
    try:
        # Loaded from bytes, so that it cannot name a folder with further files.
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime raises many kinds of errors
        raise ValueError(f"{path}: ONNX Runtime cannot load it: {error}") from None
    _check(path, contract, session)
    return PolicyFile(folder, contract, session)


def _check(path: str, contract: Contract, session: Any) -> None:
    """Checks that the network's inputs and outputs are those of the contract."""
    found = {each.name: (each.type, tuple(each.shape[1:])) for each in session.get_inputs()}
    known = (*contract.observations, *contract.states)
    wanted = {part.key: (_ONNX_TYPES[part.dtype], part.shape) for part in known}
    if any(found[name] != wanted.get(name) for name in found) or not found:
        raise ValueError(f"{path}: found the inputs {found}, expected {wanted}")
    outputs = [tuple(each.shape[1:]) for each in session.get_outputs()]
    expected = [contract.action.shape, *(state.shape for state in contract.states)]
    if outputs != expected:
        raise ValueError(f"{path}: found outputs of {outputs}, expected {expected}")
