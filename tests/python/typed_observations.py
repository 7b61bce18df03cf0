"""Observations of other types and shapes than float32 vectors, from the core to every adapter.

Run by test_typed_observations.py on a build of the module that has the pictures of tests/cpp/task/test_terms.cpp.
"""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import mvsim_gym
from mvsim_gym import _core

SHAPE = (4, 5, 3)
ARENA = "mvsim/NavArena-v0"


def test_the_module_is_that_of_the_tests() -> None:
    assert Path(_core.__file__).parent.name == "mvsim_gym" and "test_terms" in str(
        Path(_core.__file__).resolve()
    )


def picture(**attributes: Any) -> dict[str, Any]:
    return {"observe": {"picture": {"class": "test_image", **attributes}}, "time_limit": 4}


def expected(steps: int, x: float) -> np.ndarray:
    """The frame as the term defines it."""
    pixels = np.arange(20)[:, None] + 10 * np.arange(3) + int(100 * abs(x)) + 7 * steps
    return pixels.astype(np.uint8).reshape(SHAPE)


@pytest.mark.parametrize("kind", ["test_image", "test_drawn"])
def test_space_type_and_values_of_an_env(kind: str) -> None:
    env = gym.make(ARENA, **picture(**{"class": kind}))
    space = env.observation_space["picture"]
    assert space == gym.spaces.Box(0, 255, SHAPE, np.uint8)
    check_env(env.unwrapped, skip_render_check=True)
    observation, _ = env.reset(seed=3)
    for step in range(5):
        assert observation["picture"].dtype == np.uint8 and observation["scan"].dtype == np.float32
        row = observation["picture"].astype(int)
        shift = row[0, 0, 0] - expected(step, 0)[0, 0, 0].astype(int)
        np.testing.assert_array_equal(row % 256, (expected(step, 0).astype(int) + shift) % 256)
        observation, *_ = env.step(np.array([1, 0], np.float32))
    labels = gym.make(ARENA, **picture(**{"class": "test_labels"}))
    assert labels.observation_space["picture"] == gym.spaces.Box(0, 65535, (2, 3), np.uint16)
    np.testing.assert_array_equal(labels.reset(seed=1)[0]["picture"], [[0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(labels.step(np.zeros(2, np.float32))[0]["picture"][0], [1000, 1001, 1002])


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_vector_env_histories_out_and_final_observations(mode: AutoresetMode) -> None:
    keywords: dict[str, Any] = {"num_envs": 5, "autoreset_mode": mode, "num_threads": 2}
    computed = gym.make_vec(ARENA, **picture(history=3), **keywords)
    drawn = gym.make_vec(ARENA, **picture(**{"class": "test_drawn"}, history=3), **keywords)
    assert computed.single_observation_space["picture"].shape == (3, *SHAPE)
    a, b = computed.reset(seed=1)[0], drawn.reset(seed=1)[0]
    out = {key: np.empty_like(value) for key, value in a.items()}
    ends = 0
    for step in range(60):
        for key in a:
            assert a[key].dtype == b[key].dtype and a[key].tobytes() == b[key].tobytes(), (step, key)
        actions = np.random.default_rng(step).uniform(-1, 1, (5, 2)).astype(np.float32)
        before = a["picture"]
        a, _, _, _, info_a = computed.step(actions)
        b, _, _, _, info_b = drawn.step(actions, out=out)
        assert b is out
        ends += len(info_a) > 0
        running = ~(info_a.get("_success", np.zeros(5, bool)) | info_a.get("_final_obs", np.zeros(5, bool)))
        if step > 0 and mode is AutoresetMode.SAME_STEP:
            np.testing.assert_array_equal(a["picture"][running, :2], before[running, 1:])
        for i in np.flatnonzero(info_a.get("_final_obs", [])):
            assert info_a["final_obs"][i]["picture"].tobytes() == info_b["final_obs"][i]["picture"].tobytes()
    assert ends > 1
    with pytest.raises(ValueError, match="expected a writeable array of uint8"):
        computed.step(actions, out={**out, "picture": out["picture"].astype(np.float32)})


@pytest.mark.parametrize("kind", ["test_image", "test_drawn", "test_labels"])
def test_copies_pickles_and_snapshots_go_on_bit_for_bit(kind: str) -> None:
    env = gym.make(ARENA, **picture(**{"class": kind}, history=4)).unwrapped
    env.reset(seed=9)
    for _ in range(6):
        env.step(np.array([0.5, 0.2], np.float32))
    other = gym.make(ARENA, **picture(**{"class": kind}, history=4)).unwrapped
    restored = other.restore(env.snapshot())
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), other]
    for _ in range(8):
        observation = env.step(np.array([1, -0.3], np.float32))[0]
        for twin in twins:
            found = twin.step(np.array([1, -0.3], np.float32))[0]
            assert all(found[key].tobytes() == observation[key].tobytes() for key in observation)
    assert restored["picture"].dtype == observation["picture"].dtype


def test_no_picture_is_stored_as_pixels() -> None:
    sizes = [
        len(gym.make(ARENA, **picture(**{"class": kind}, history=100)).unwrapped.snapshot())
        for kind in ("test_image", "test_drawn")
    ]
    assert sizes[0] - sizes[1] > 2 * 100 * 60 - 100 * 2 * 8 - 100


def test_stable_baselines() -> None:
    pytest.importorskip("stable_baselines3")
    from mvsim_gym.sb3 import MVSimVecEnv

    flat, by_key = (MVSimVecEnv(ARENA, 3, flatten=flatten, **picture()) for flatten in (True, False))
    flat.seed(4)
    by_key.seed(4)
    vector, observation = flat.reset(), by_key.reset()
    assert by_key.observation_space["picture"] == gym.spaces.Box(0, 255, SHAPE, np.uint8)
    assert observation["picture"].dtype == np.uint8 and observation["picture"].shape == (3, *SHAPE)
    assert flat.observation_space.contains({key: rows[0] for key, rows in vector.items()})
    np.testing.assert_array_equal(vector["picture"], np.moveaxis(observation["picture"], -1, 1))
    assert vector["vector"].dtype == np.float32 and np.abs(vector["vector"]).max() <= 1
    for _ in range(25):  # until episodes have ended
        _, _, dones, infos = by_key.step(np.ones((3, 2), np.float32))
        for i in np.flatnonzero(dones):
            assert infos[i]["terminal_observation"]["picture"].dtype == np.uint8


def test_a_robot_has_the_inputs_that_the_row_of_a_class_names() -> None:
    from mvsim_gym.deploy import Pipeline

    made = Pipeline(ARENA, observe={"picture": {"class": "test_labels"}})
    assert {spec.key: source.needs for spec, source in made.described}["picture"] == []
    with pytest.raises(ValueError, match=r"picture .this version does not know what the class needs"):
        Pipeline(ARENA, observe={"picture": {"class": "test_image"}})


SENSORS = """<mvsim_world><simul_timestep>0.01</simul_timestep><vehicle name="r"><init_pose>0 0 0</init_pose>
<dynamics class="differential"><controller class="twist_ideal"/></dynamics>
<sensor class="test_motion" name="motion"/><sensor class="test_ranger" name="ranger"/>
<sensor class="test_plain" name="plain"/><sensor class="laser" name="laser"/></vehicle></mvsim_world>"""
SEEN = """<mvsim_env id="test/Sensors-v0" world="sensors.world.xml" control_period="0.1" time_limit="5">
<agent vehicle="r"><action class="twist" vx="0 1" omega="-1 1"/><observe class="scan"/>{}</agent></mvsim_env>"""


def test_sensors_of_each_kind_in_a_world(tmp_path: Path) -> None:
    (tmp_path / "sensors.world.xml").write_text(SENSORS)
    world = mvsim_gym.World(tmp_path / "sensors.world.xml")
    sensors = world.vehicles["r"].sensors
    assert list(sensors) == ["motion", "ranger", "plain", "laser"]
    assert sensors["motion"].values() is None and sensors["motion"].angles is None
    world.step(0.2)
    motion, ranger, plain = (sensors[name].values() for name in ("motion", "ranger", "plain"))
    assert motion is not None and ranger is not None and plain is not None
    assert motion.dtype == np.float64 and motion.shape == (5,) and motion[0] == pytest.approx(0.11)
    assert ranger.dtype == np.float32 and ranger.tolist() == [20]
    assert plain.dtype == np.uint8 and plain.shape == (2, 3, 3) and (plain == 100).all()
    np.testing.assert_array_equal(sensors["plain"].values(fresh=True), plain)
    laser = sensors["laser"].read()
    assert laser is not None
    np.testing.assert_array_equal(laser.ranges, sensors["laser"].values())
    with pytest.raises(
        TypeError, match="'motion' is of class 'test_motion', whose reading has no names: use values"
    ):
        sensors["motion"].read()


def test_readings_without_names_are_served_as_values(tmp_path: Path) -> None:
    pytest.importorskip("zmq")
    from mvsim_gym.comms.observation import decode_observation
    from mvsim_gym.comms.world_topics import topics_of

    (tmp_path / "sensors.world.xml").write_text(SENSORS)
    world = mvsim_gym.World(tmp_path / "sensors.world.xml")
    world.step(0.2)
    topics = {topic.name: topic for topic in topics_of(world, {}, {})}
    sensors = world.vehicles["r"].sensors
    for name in ("motion", "ranger", "plain"):
        (message,) = topics[f"/r/{name}"].messages()
        sent = decode_observation(message.mrptSerializedObservation)
        assert sent.class_name == f"test_{name}" and sent.time == message.unixTimestamp == sensors[name].time
        assert list(sent.arrays) == ["values"]
        np.testing.assert_array_equal(sent.arrays["values"], sensors[name].values())


def test_brightness_is_the_same_beside_opengl(tmp_path: Path) -> None:
    """OpenGL draws no intensity: rays do."""
    block = (
        '<block name="b"><static>true</static><init_pose>2 0.4 0</init_pose><color>#804020</color></block>'
    )
    sees = f'<sensor class="test_luma" name="luma"/></vehicle>{block}'
    path = tmp_path / "luma.world.xml"
    path.write_text(SENSORS.replace("</vehicle>", sees))
    egl, rays = (
        mvsim_gym.World(path, camera_backend=backend).vehicles["r"].sensors["luma"].values(fresh=True)
        for backend in ("egl", "rays")
    )
    assert rays.dtype == np.float32 and rays.shape == (3, 4) and 0 < rays.max() <= 1
    np.testing.assert_array_equal(egl, rays)


@pytest.mark.parametrize("sensor", ["motion", "ranger", "plain"])
def test_sensors_of_each_kind_in_an_environment(tmp_path: Path, sensor: str) -> None:
    (tmp_path / "sensors.world.xml").write_text(SENSORS)
    path = tmp_path / "sensors.env.xml"
    path.write_text(SEEN.format(f'<observe name="x" class="reading" sensor="{sensor}" history="2"/>'))
    env = mvsim_gym.Env(path)
    expected = {
        "motion": gym.spaces.Box(-1000, 1000, (10,), np.float64),
        "ranger": gym.spaces.Box(0, 20, (2,), np.float32),
        "plain": gym.spaces.Box(0, 255, (2, 2, 3, 3), np.uint8),
    }
    assert env.observation_space["x"] == expected[sensor]
    check_env(env, skip_render_check=True)
    env.reset(seed=1)
    env.step(np.array([1, 0], np.float32))
    other = pickle.loads(pickle.dumps(env))
    for _ in range(3):
        (a, *_), (b, *_) = (e.step(np.array([1, 0], np.float32)) for e in (env, other))
        assert env.observation_space.contains(a) and a["x"].tobytes() == b["x"].tobytes()


@pytest.mark.parametrize("make", [gym.make, gym.make_vec])
def test_pictures_are_refused_by_name_where_observations_are_flat(make: Any) -> None:
    with pytest.raises(ValueError, match=r"flatten: the observation 'picture' has the shape \(4, 5, 3\)"):
        make(ARENA, flatten=True, **picture())
