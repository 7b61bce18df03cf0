"""Films of environments, their policies, and the picture of a World in a notebook."""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import DATA, ROOT

import mvsim_gym
from mvsim_gym._picture import Painter, Shot, png_of
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.policy import ends_of, outcome, policy_of

ENV = "mvsim/NavArena-v0"
BASELINES = str(ROOT / "examples" / "baselines.py")
SCRIPT = """
import numpy as np

def policies(env):
    return {
        "still": lambda o: np.zeros((len(o["goal"]), 2)),
        "ahead": lambda o: np.tile([1.0, 0.0], (len(o["goal"]), 1)),
    }
"""

pytestmark = pytest.mark.unsanitized


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "drivers.py").write_text(SCRIPT)
    return str(tmp_path / "drivers.py")


# imageio-ffmpeg leaves the pipes of its processes to the garbage collector
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ["film.mp4", "film.gif"])
def test_a_film_has_a_frame_a_control_period(
    tmp_path: Path, script: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    imageio = pytest.importorskip("imageio.v2", reason="needs the extra video")
    pytest.importorskip("imageio_ffmpeg", reason="needs the extra video")
    path = str(tmp_path / name)
    size = ["--width", "96", "--height", "64"]
    assert main(["film", ENV, "--policy", f"{script}:ahead", "-o", path, "--seed", "3", *size]) == 0
    said = capsys.readouterr().out
    assert said.startswith("seed 3: collision after ")
    with imageio.get_reader(path) as reader:
        frames = [np.asarray(frame)[..., :3] for frame in reader]
    filmed = int(said.split(", ")[1].split()[0])
    assert filmed > 5 and frames[0].shape == (64, 96, 3)
    if name.endswith(".mp4"):  # a GIF joins frames that are the same
        assert len(frames) == filmed + 5  # a second at 5 Hz follows
    env = mvsim_gym.Env(ENV, render_mode="rgb_array", camera="follow", width=96, height=64)
    env.reset(seed=3)
    first = env.render()
    assert first is not None
    assert np.abs(frames[0].astype(float) - first).mean() < 8  # but for the loss of the format
    assert np.abs(frames[-1].astype(float) - first).mean() > 8
    gc.collect()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "x.avi"], "found 'x.avi', expected a name that ends in .mp4 or .gif"),
        (["-o", "x.mp4", "--width", "65"], "expected even numbers for an .mp4"),
        (["-o", "x.mp4", "--episodes", "0"], "--episodes: found 0"),
        (["-o", "x.mp4", "--speed", "0"], "--speed: found 0"),
        (["-o", "x.mp4", "--policy", "perfect"], "--policy: found 'perfect', expected 'random'"),
        (["-o", "x.mp4", "--policy", "absent.zip"], "there is no file 'absent.zip'"),
        (["-o", "x.mp4", "--policy", "absent.py"], "absent.py"),
        (["-o", "x.mp4", "--policy", f"{BASELINES}:perfect"], "found 'perfect', "),
        (["-o", "absent/x.mp4"], "absent"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    pytest.importorskip("imageio_ffmpeg", reason="needs the extra video")
    monkeypatch.chdir(tmp_path)
    assert main(["film", ENV, *arguments]) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "limit"), [("x.gif", 20_000), ("x.mp4", 2_000), ("x.mp4", 30)])
def test_a_full_disk(name: str, limit: int, tmp_path: Path) -> None:
    """The limit of a file's size stands in for it. The .mp4 of 30 bytes ends in the middle of the film."""
    pytest.importorskip("imageio_ffmpeg", reason="needs the extra video")
    size = ["--width", "160", "--height", "120", "--set", "time_limit=20"]
    run = subprocess.run(
        [sys.executable, "-m", "mvsim_gym", "film", ENV, "-o", name, *size],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    *_, line = run.stderr.splitlines()
    assert run.returncode == 1 and "Traceback" not in run.stderr, run.stderr
    assert line.startswith(f"mvsim-gym film: the film '{name}' cannot be written: ")
    assert not list(tmp_path.iterdir())


def test_a_missing_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "imageio.v2", None)
    assert main(["film", ENV, "-o", "x.mp4"]) == 1
    assert "pip install 'mvsim_gym[video]'" in capsys.readouterr().err


@pytest.fixture
def team() -> Iterator[Callable[..., str]]:
    """Registers an environment of four agents with such keywords."""

    def registered(**overrides: Any) -> str:
        mvsim_gym.register("mine/Team-v0", "mvsim/MultiNav-v0", time_limit=3, **overrides)
        return "mine/Team-v0"

    yield registered
    gym.registry.pop("mine/Team-v0", None)


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_agents_of_a_world_are_filmed_together(
    tmp_path: Path,
    script: str,
    team: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    imageio = pytest.importorskip("imageio.v2", reason="needs the extra video")
    pytest.importorskip("imageio_ffmpeg", reason="needs the extra video")
    drawn = []
    of_env = Painter.of_env

    def counted(self: Painter, batch: Any, env: int, shot: Shot) -> Any:
        drawn.append((env, shot))
        return of_env(self, batch, env, shot)

    monkeypatch.setattr(Painter, "of_env", counted)
    path = str(tmp_path / "film.mp4")
    size = ["--width", "96", "--height", "64"]
    assert main(["film", team(), "--policy", f"{script}:ahead", "-o", path, "--seed", "1", *size]) == 0
    # it goes on after the first two have ended, at 1.8 and 2.0 s
    assert capsys.readouterr().out == "seed 1: 2 timeout, 2 collision after 3.0 s, 16 frames\n"
    assert drawn == [(0, Shot(96, 64, "above"))] * 16  # the world once, not once an agent
    with imageio.get_reader(path) as reader:
        frames = [np.asarray(frame) for frame in reader]
    assert len(frames) == 16 + 5
    envs = mvsim_gym.VectorEnv(
        "mvsim/MultiNav-v0", num_envs=4, render_mode="rgb_array", camera="above", width=96, height=64
    )
    envs.reset(seed=1)
    (first,) = envs.render() or ()
    assert np.abs(frames[0].astype(float) - first).mean() < 8
    gc.collect()


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_first_agent_is_followed_until_it_leaves_the_world(
    tmp_path: Path, script: str, team: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("imageio_ffmpeg", reason="needs the extra video")
    more = ["--seed", "15", "--camera", "follow", "--width", "32", "--height", "32"]
    path = str(tmp_path / "film.gif")
    assert main(["film", team(), "--policy", f"{script}:ahead", "-o", path, *more]) == 0
    assert capsys.readouterr().out == "seed 15: collision after 0.8 s, 5 frames\n"
    gc.collect()


@pytest.mark.parametrize("command", ["film", "collect"])
def test_agents_that_begin_anew_have_no_episode_to_film_or_collect(
    tmp_path: Path, team: Callable[..., str], capsys: pytest.CaptureFixture[str], command: str
) -> None:
    pytest.importorskip("minari", reason="needs the extra record")
    more = ["-o", str(tmp_path / "x.mp4")] + (["--episodes", "1"] if command == "collect" else [])
    assert main([command, team(on_end="respawn"), *more]) == 1
    error = capsys.readouterr().err
    assert 'found on_end="respawn"' in error and "expected 'wait' or 'end_all'" in error
    assert error.count("\n") == 1 and not list(tmp_path.iterdir())


def test_how_an_agent_has_ended() -> None:
    envs = mvsim_gym.VectorEnv(
        "mvsim/MultiNav-v0", num_envs=4, autoreset_mode="Disabled", on_end="end_all", time_limit=3
    )
    envs.reset(seed=1)
    ends: dict[int, dict[str, Any]] = {}
    while envs.alive.any():
        _, _, terminated, truncated, infos = envs.step(np.tile(np.float32([1, 0]), (4, 1)))
        ends |= ends_of(terminated | truncated, infos)
    assert [outcome(ends[row]) for row in range(4)] == ["cut short", "cut short", "collision", "cut short"]
    env = mvsim_gym.Env("mvsim/NavArena-v0", time_limit=0.4)
    env.reset(seed=1)
    for _ in range(2):
        info = env.step(np.zeros(2, np.float32))[-1]
    assert outcome(info) == "timeout"


def test_a_script_drives_all_rows(script: str) -> None:
    for env_id, rows in ((ENV, 1), ("mvsim/MultiNav-v0", 4)):
        envs = mvsim_gym.VectorEnv(env_id, num_envs=rows)
        observation, _ = envs.reset(seed=0)
        assert policy_of(script, env_id, envs)(observation).tolist() == [[0, 0]] * rows  # the first one
        action = policy_of(f"{script}:ahead", env_id, envs)(observation)
        assert action.dtype == np.float32 and action.tolist() == [[1, 0]] * rows
        assert policy_of(BASELINES, env_id, envs)(observation).shape == (rows, 2)


@pytest.mark.slow
def test_a_model_drives_as_its_library_does(tmp_path: Path) -> None:
    sb3 = pytest.importorskip("stable_baselines3", reason="needs the extra sb3")
    from mvsim_gym.sb3 import FlatObservation, MVSimVecEnv

    batch = mvsim_gym.VectorEnv(ENV, num_envs=3)
    flat = FlatObservation(batch.single_observation_space)  # type: ignore[arg-type]
    observation, _ = batch.reset(seed=0)
    for algorithm, flatten, more in (
        (sb3.PPO, True, {}),
        (sb3.SAC, True, {"buffer_size": 1}),
        (sb3.PPO, False, {}),
    ):
        envs = MVSimVecEnv(ENV, flatten=flatten)
        model = algorithm("MlpPolicy" if flatten else "MultiInputPolicy", envs, device="cpu", seed=1, **more)
        model.save(tmp_path / "model.zip")
        expected, _ = model.predict(flat(observation) if flatten else observation, deterministic=True)
        action = policy_of(str(tmp_path / "model.zip"), ENV, batch)(observation)
        assert action.tobytes() == expected.tobytes()
    other = mvsim_gym.VectorEnv("mvsim/TerrainGoal-v0")
    with pytest.raises(ValueError, match="was trained with observations of shape"):
        policy_of(str(tmp_path / "model.zip"), "mvsim/TerrainGoal-v0", other)


@pytest.mark.slow
def test_a_model_of_flat_observations_is_handed_them_unscaled(tmp_path: Path) -> None:
    sb3 = pytest.importorskip("stable_baselines3", reason="needs the extra sb3")
    few = {"n_steps": 2, "batch_size": 2, "device": "cpu"}
    model = sb3.PPO("MlpPolicy", gym.make(ENV, flatten=True), **few)
    path = str(tmp_path / "model.zip")
    model.save(path)
    flat, named = (mvsim_gym.VectorEnv(ENV, num_envs=3, flatten=flatten) for flatten in (True, False))
    expected, _ = model.predict(flat.reset(seed=0)[0], deterministic=True)
    assert policy_of(path, ENV, named)(named.reset(seed=0)[0]).tobytes() == expected.tobytes()
    wide = gym.wrappers.RescaleObservation(gym.make(ENV, flatten=True), np.float32(0), np.float32(1))
    sb3.PPO("MlpPolicy", wide, **few).save(path)
    with pytest.raises(ValueError, match="between other bounds than those of"):
        policy_of(path, ENV, named)


def test_tools_hand_policies_named_observations(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    mvsim_gym.register("filmed/Flat-v0", ENV, flatten=True)
    assert main(["evaluate", "filmed/Flat-v0", "--policy", f"{script}:ahead", "--episodes", "2"]) == 0
    told = capsys.readouterr().out
    assert main(["evaluate", ENV, "--policy", f"{script}:ahead", "--episodes", "2"]) == 0
    assert told.split("\n")[1:] == capsys.readouterr().out.split("\n")[1:]


@pytest.mark.slow
def test_a_model_says_what_it_sees(tmp_path: Path) -> None:
    """Tools make their environments with the keywords that a model was saved with."""
    sb3 = pytest.importorskip("stable_baselines3", reason="needs the extra sb3")
    from mvsim_gym.sb3 import MVSimVecEnv
    from mvsim_gym.tools.evaluate import evaluate
    from mvsim_gym.tools.policy import keywords_of

    keywords = {"observe": {"near": {"class": "scan", "sectors": 12, "max": 0.5}}, "obstacles": 3}
    model = sb3.PPO(
        "MlpPolicy", MVSimVecEnv("mvsim/NavArena-v0", **keywords), device="cpu", n_steps=2, batch_size=2
    )
    path = str(tmp_path / "model.zip")
    model.save(path)
    assert keywords_of(path) == {} == keywords_of("random")
    with pytest.raises(ValueError, match=r"was trained with observations of shape \(53,\)"):
        evaluate("mvsim/NavArena-v0", path, episodes=1)
    model.env_keywords = keywords
    model.save(path)
    assert keywords_of(path) == keywords
    assert "2 episodes" in evaluate("mvsim/NavArena-v0", path, episodes=2)[0]
    model.env_keywords = 3
    model.save(path)
    with pytest.raises(ValueError, match="has 3 for env_keywords, expected a dict"):
        keywords_of(path)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"mvsim-gym v{mvsim_gym.__version__}\n"


def test_a_world_shows_itself_in_a_notebook(tmp_path: Path) -> None:
    world = mvsim_gym.World(DATA / "yard.world.xml")
    picture = world._repr_png_()
    assert picture is not None and picture[:8] == b"\x89PNG\r\n\x1a\n"
    image = pytest.importorskip("matplotlib.image")
    (tmp_path / "a.png").write_bytes(picture)
    read = np.rint(255 * image.imread(tmp_path / "a.png")[..., :3]).astype(np.uint8)
    assert np.array_equal(read, world.draw())


def test_without_a_device_a_notebook_shows_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    world = mvsim_gym.World(DATA / "yard.world.xml")
    monkeypatch.setattr(world, "draw", lambda: (_ for _ in ()).throw(ValueError("no device")))
    assert world._repr_png_() is None


def test_png_of_uneven_pictures(tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image")
    picture = np.random.default_rng(0).integers(0, 256, (3, 5, 3), np.uint8)
    (tmp_path / "a.png").write_bytes(png_of(picture))
    read = np.rint(255 * image.imread(tmp_path / "a.png")[..., :3]).astype(np.uint8)
    assert np.array_equal(read, picture)
