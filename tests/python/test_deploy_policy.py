"""Policies as files: `mvsim-gym export`, what loads them, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mvsim_gym import VectorEnv
from mvsim_gym._files import assets
from mvsim_gym.deploy import Pipeline, load_policy
from mvsim_gym.tools.cli import main

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
NAV = "mvsim/NavArena-v0"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported model of PPO that has learnt nothing."""
    from stable_baselines3 import PPO

    from mvsim_gym.sb3 import MVSimVecEnv

    place = tmp_path_factory.mktemp("policy")
    PPO("MlpPolicy", MVSimVecEnv(NAV, 2), n_steps=8, batch_size=16, device="cpu", seed=0).save(
        place / "model.zip"
    )
    assert main(["export", str(place / "model.zip"), "--env", NAV, "-o", str(place / "policy")]) == 0
    return place


def test_the_contract_says_what_it_sees_and_how_exact_it_is(folder: Path) -> None:
    contract = json.loads((folder / "policy" / "contract.json").read_text())
    assert contract["policy"]["largest_difference"] < 1e-5
    assert contract["policy"]["observations_compared"] == 10_000
    assert [o["key"] for o in contract["observations"]] == ["scan", "goal", "velocity"]
    assert contract["control_period"] == 0.2 and contract["action"]["names"] == ["vx", "omega"]
    assert contract["exact"] == ["pose", "velocity"]
    assert "pose and velocity without errors" in (folder / "policy" / "README.md").read_text()
    assert (folder / "policy" / contract["env"]).is_file()
    # the copied environment is the same one
    copied = Pipeline(folder / "policy" / contract["env"])
    assert copied.sources == Pipeline(NAV).sources
    assert copied._model.fingerprint == Pipeline(NAV)._model.fingerprint


def test_an_environment_with_a_localization_is_not_exact(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, out = str(folder / "model.zip"), tmp_path / "policy"
    said: list[str] = []
    monkeypatch.setattr("mvsim_gym.deploy.export.notice", said.extend)

    def exact(*settings: str) -> list[str]:
        options = [part for setting in settings for part in ("--set", setting)]
        assert main(["export", model, "--env", NAV, "-o", str(out), *options]) == 0
        found: list[str] = json.loads((out / "contract.json").read_text())["exact"]
        assert (
            re.findall(r"shows the policy exact (.*);", " ".join(said)) == [" and ".join(found)][: len(found)]
        )
        said.clear()
        return found

    assert exact() == ["pose", "velocity"]
    assert exact("observe.velocity.source=odometry") == ["pose"]
    assert exact("localization.jump_sigma=0.1") == []
    assert exact("localization.jump_sigma=0.1", "observe.velocity.source=body") == ["velocity"]


def test_it_acts_as_the_original_and_evaluates_alike(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = load_policy(folder / "policy")
    envs = VectorEnv(NAV, num_envs=3)
    observations, _ = envs.reset(seed=1)
    many = policy(observations)
    assert many.shape == (3, 2) and many.dtype == np.float32
    one = policy({key: value[1] for key, value in observations.items()})
    np.testing.assert_allclose(one, many[1], atol=1e-6)
    said = []
    for name in ("policy", "model.zip"):
        arguments = [
            "evaluate",
            NAV,
            "--policy",
            str(folder / name),
            "--episodes",
            "2",
            "--set",
            "time_limit=2",
        ]
        assert main(arguments) == 0
        said.append(capsys.readouterr().out.splitlines()[1:])
    assert said[0] == said[1]


def test_folders_that_are_none_are_refused(folder: Path, tmp_path: Path) -> None:
    def copy(change: Any, name: str = "contract.json") -> Path:
        for file in ("contract.json", "policy.onnx"):
            (tmp_path / file).write_bytes((folder / "policy" / file).read_bytes())
        change(tmp_path / name)
        return tmp_path

    def edit(**changes: Any) -> Any:
        def write(path: Path) -> None:
            path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

        return write

    for change, name, message in (
        (lambda p: p.unlink(), "contract.json", "has no contract.json"),
        (lambda p: p.write_text("{"), "contract.json", "it is no JSON"),
        (edit(format=9), "contract.json", "found the format 9"),
        (edit(env="../../etc/passwd"), "contract.json", "expected a path below the folder"),
        (edit(keywords={"world": "env/a.xml"}), "contract.json", "found 'world', which is not in 'files'"),
        (edit(keywords={"roots": ["/"]}), "contract.json", "found 'roots', which is not in 'files'"),
        (
            edit(keywords={"world": "../a.xml"}, files=["world"]),
            "contract.json",
            "keywords.world: found '../a",
        ),
        (
            edit(keywords={"t": ["a", "/etc"]}, files=["t"]),
            "contract.json",
            "keywords.t: found '/etc', expected",
        ),
        (edit(control_period=-1), "contract.json", "expected seconds above 0"),
        (lambda p: p.write_bytes(b"x" * 100), "policy.onnx", "its SHA-256 is not the one of the contract"),
        (lambda p: p.unlink(), "policy.onnx", "has no policy.onnx"),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=message):
            load_policy(copy(change, name))


def test_observations_of_another_shape_are_refused(folder: Path) -> None:
    policy = load_policy(folder / "policy")
    with pytest.raises(ValueError, match="'goal' is missing"):
        policy({"scan": np.zeros(36, np.float32)})
    with pytest.raises(ValueError, match=r"observation\['scan'\]: found float64"):
        policy({"scan": np.zeros(36), "goal": np.zeros(3, np.float32), "velocity": np.zeros(2, np.float32)})


def test_a_robot_imports_neither_gymnasium_nor_torch(folder: Path) -> None:
    code = (
        "import sys, mvsim_gym.deploy as d; p = d.load_policy(sys.argv[1]); d.Pipeline(p.env, **p.keywords);"
        "print(sorted(m for m in ('gymnasium', 'torch', 'stable_baselines3') if m in sys.modules));"
        "maps = open('/proc/self/maps').read();"
        "print([lib for lib in ('libEGL', 'libembree', 'libassimp') if lib in maps]);"
        "import gymnasium; print('mvsim/NavArena-v0' in gymnasium.registry)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder / "policy")], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[]", "[]", "True"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SAC", "TD3", "A2C"])
def test_other_algorithms_are_exported(name: str, tmp_path: Path) -> None:
    import stable_baselines3

    from mvsim_gym.sb3 import MVSimVecEnv

    model = getattr(stable_baselines3, name)("MlpPolicy", MVSimVecEnv(NAV, 1), device="cpu", seed=0)
    model.save(tmp_path / "model.zip")
    assert main(["export", str(tmp_path / "model.zip"), "--env", NAV, "-o", str(tmp_path / "policy")]) == 0


def forwards(seen: Mapping[str, Any]) -> Any:
    """A policy of two actions, which are 1."""
    return 0 * seen["scan"][:, :2] + 1


def test_files_that_keywords_name_are_in_the_folder(tmp_path: Path) -> None:
    from mvsim_gym.deploy.export import export_policy

    near, tracks = tmp_path / "near", tmp_path / "tracks"
    shutil.copytree(Path(assets()) / "worlds" / "definitions", near / "definitions")
    world = (Path(assets()) / "worlds" / "nav_arena.world.xml").read_text()
    (near / "own.world.xml").write_text(world)
    shutil.copytree(Path(assets()) / "worlds" / "tracks", tracks / "a")
    shutil.copytree(tracks / "a", tracks / "b")
    out = tmp_path / "policies"
    export_policy(forwards, NAV, out / "world", settings={"world": str(near / "own.world.xml")})
    both = [str(tracks / name) for name in ("a", "b")]
    export_policy(
        forwards, "mvsim/Race-v0", out / "tracks", settings={"tracks": both, "roots": [str(tracks)]}
    )
    shutil.rmtree(near)
    shutil.rmtree(tracks)
    moved = tmp_path / "moved"
    out.rename(moved)
    policies = {name: load_policy(moved / name) for name in ("world", "tracks")}
    given = {name: policy.keywords for name, policy in policies.items()}
    assert given["world"]["world"].startswith(str(moved)) and len(given["tracks"]["tracks"]) == 2
    for policy in policies.values():
        assert Pipeline(policy.env, **policy.keywords).sources
    for name, env_id in (("world", NAV), ("tracks", "mvsim/Race-v0")):
        assert main(["evaluate", env_id, "--policy", str(moved / name), "--episodes", "1"]) == 0


def test_a_function_is_exported(tmp_path: Path) -> None:
    import torch

    from mvsim_gym.deploy.export import export_policy

    def towards(seen: Mapping[str, Any]) -> torch.Tensor:
        return torch.cat([seen["goal"][:, 1:2], 3 * seen["goal"][:, 2:3]], dim=1)

    export_policy(towards, NAV, tmp_path / "policy")
    seen = {key: value[0] for key, value in VectorEnv(NAV, num_envs=1).reset(seed=0)[0].items()}
    wanted = np.clip([seen["goal"][1], 3 * seen["goal"][2]], -1, 1)
    np.testing.assert_allclose(load_policy(tmp_path / "policy")(seen), wanted, atol=1e-6)
