"""Bodies that move without learning: people and other bodies with policies, and actors that are solid."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import mvsim_gym
from mvsim_gym.errors import TermError

CROWD = "mvsim/Crowd-v0"
STANDING = np.array([-1, 0], np.float32)

WORLD = """<mvsim_world version="1.0">
  <simul_timestep>0.01</simul_timestep>
  <vehicle:class name="bot">
    <dynamics class="differential"><l_wheel pos="0 0.1" mass="1" width="0.04" diameter="0.1"/>
      <r_wheel pos="0 -0.1" mass="1" width="0.04" diameter="0.1"/>
      <chassis mass="5" zmin="0.05" zmax="0.3"><shape><pt>-0.2 -0.15</pt><pt>-0.2 0.15</pt><pt>0.2 0.15</pt>
        <pt>0.2 -0.15</pt></shape></chassis>
      <controller class="twist_ideal"/></dynamics>
    <sensor class="laser" name="laser"><fov_degrees>360</fov_degrees><nrays>37</nrays><pose_3d>0 0 0.2 0 0 0</pose_3d>
      <sensor_period>0.1</sensor_period><range_std_noise>0</range_std_noise>
      <angle_std_noise_deg>0</angle_std_noise_deg></sensor>
  </vehicle:class>
  <vehicle name="robot" class="bot"><init_pose>0 0 0</init_pose></vehicle>
  <vehicle name="other" class="bot"><init_pose>0 4 0</init_pose></vehicle>
  <block name="box"><init_pose>-3 0 0</init_pose><mass>20</mass></block>
  %s
</mvsim_world>"""
ACTOR = '<actor name="walker">%s<init_pose>2 0 0</init_pose><path><waypoint>-2 0 0</waypoint></path></actor>'
ENV = """<mvsim_env world="bodies.world.xml" control_period="0.1" time_limit="60">
  <agent vehicle="robot"><action class="twist" vx="-1 1" omega="-2 2"/><observe class="scan" sensor="laser"/></agent>
  <terminate class="collision"/>%s</mvsim_env>"""


def world(tmp_path: Path, actor: str = "") -> str:
    path = tmp_path / "bodies.world.xml"
    path.write_text(WORLD % actor)
    return str(path)


def env(tmp_path: Path, movers: str, actor: str = "", **keywords: Any) -> mvsim_gym.VectorEnv:
    world(tmp_path, actor)
    path = tmp_path / "bodies.env.xml"
    path.write_text(ENV % movers)
    return mvsim_gym.VectorEnv(str(path), **{"num_envs": 1, **keywords})


def to_goal(view: Any) -> np.ndarray:
    way = view.body_goals - view.body_poses[..., :2]
    distance = np.linalg.norm(way, axis=-1, keepdims=True)
    return way / np.maximum(distance, 1e-9) * np.minimum(1, distance) * view.body_speeds[..., None]


def test_solid_actor_is_seen_and_hits(tmp_path: Path) -> None:
    """It walks at 1.4 m/s from 2 m ahead: the ray ahead is 2 - 0.3 m long, and shrinks, until they touch."""
    seen = mvsim_gym.World(world(tmp_path, ACTOR % "<solid>true</solid>"))
    robot = seen.vehicles["robot"]
    seen.step(0.15)  # it scanned at 0.1 s
    ahead = np.asarray(robot.sensors["laser"].read().ranges).min()
    assert ahead == pytest.approx(2 - 1.4 * 0.1 - 0.3, abs=0.01)  # a polygon holds the disc
    seen.step(1.2)
    assert robot.had_collision


def test_plain_actor_is_a_ghost(tmp_path: Path) -> None:
    """As in MVSim."""
    seen = mvsim_gym.World(world(tmp_path, ACTOR % ""))
    robot = seen.vehicles["robot"]
    seen.step(2.5)
    assert not robot.had_collision
    assert robot.pose[0] == pytest.approx(0, abs=1e-6)


def test_collision_with_a_person_is_told_apart(tmp_path: Path) -> None:
    """For a person that ignores robots, and for a block that a policy moves."""
    person = '<people n="1" policy="waypoints" points="2 0, -2 0" aware="false"/>'
    box = '<move bodies="box" policy="waypoints" points="2 0"/>'
    for movers, touched in ((person, "person"), (box, "block")):
        envs = env(tmp_path, movers)
        envs.reset(seed=0)
        for _ in range(50):
            _, _, terminated, _, infos = envs.step(np.zeros((1, 2), np.float32))
            if terminated[0]:
                break
        assert terminated[0]
        if touched == "person":
            kinds = [k for k in infos if k.startswith("collision/") and infos[k][0]]
            assert kinds == ["collision/person"]
            assert infos["person_distance"][0] < 0.05
        envs.close()


def test_vehicle_follows_waypoints(tmp_path: Path) -> None:
    envs = env(tmp_path, '<move bodies="other" policy="waypoints" points="2 4, 2 2" loop="false"/>')
    envs.reset(seed=0)
    for _ in range(120):
        envs.step(np.zeros((1, 2), np.float32))
    assert np.linalg.norm(envs.read("body:other/pose")[0, :2] - [2, 2]) < 0.15


def test_solid_actor_takes_a_policy(tmp_path: Path) -> None:
    """In place of its path."""
    envs = env(
        tmp_path,
        '<move bodies="walker" policy="go_to_goal" goal="2 3" speed="0.5"/>',
        ACTOR % "<solid>true</solid>",
    )
    envs.reset(seed=0)
    for _ in range(40):
        envs.step(np.zeros((1, 2), np.float32))
    assert envs.read("body:walker/pose")[0, :2] == pytest.approx([2, 2], abs=0.01)


def test_a_path_gives_the_goals_of_an_actor(tmp_path: Path) -> None:
    """To and fro over its waypoints; a path that is no loop ends at its last one."""
    path = "<path><waypoint>-1 1 0</waypoint><waypoint>2 1 0</waypoint>%s</path>"
    actor = '<actor name="walker"><solid>true</solid><init_pose>2 1 0</init_pose>%s</actor>'
    move = '<move bodies="walker" policy="go_to_goal" goal="path" speed="1.5" reached="0.1" max_turn="6"/>'
    for loop, last in (("", -1), ("<loop>false</loop>", 2)):
        envs = env(tmp_path, move, actor % (path % loop))
        envs.reset(seed=0)
        places = []
        for _ in range(65):  # three ways of 3 m, which take 20 steps each
            envs.step(np.zeros((1, 2), np.float32))
            places.append(envs.read("body:walker/pose")[0].copy())
        x = np.array(places)[:, 0]
        assert x[18:22].min() == pytest.approx(-1, abs=0.1) and x[38:42].max() == pytest.approx(2, abs=0.1)
        assert x[-6:].min() == pytest.approx(last, abs=0.25)
        assert np.abs(np.array(places)[:, 1] - 1).max() < 0.05
        assert abs(places[10][2]) == pytest.approx(np.pi, abs=0.01)  # it faces where it goes
        envs.close()


@pytest.mark.parametrize(
    ("movers", "expected"),
    [
        ('<people n="1" goal="path"/>', "found 'path', expected a point"),
        ('<move bodies="box" goal="path"/>', "'box' is no actor with a <path>"),
        ('<move bodies="other" goal="path"/>', "'other' is no actor with a <path>"),
        ('<move bodies="box" policy="spline"/>', "<move>: found none, expected the rectangle"),
        ('<move bodies="box" policy="spline" area="1 1 0 2"/>', "without a width"),
    ],
)
def test_movers_without_a_path_or_an_area_are_refused(tmp_path: Path, movers: str, expected: str) -> None:
    with pytest.raises(mvsim_gym.WorldFileError, match=expected):
        env(tmp_path, movers)


def test_jerk_is_that_of_the_differences(tmp_path: Path) -> None:
    """A robot with ideal motion drives straight on, and has the speed of its command at the end of each period."""
    envs = env(tmp_path, '<people n="1" policy="waypoints" points="3 3" loop="false"/>', time_limit=1)
    envs.reset(seed=3)
    speeds = np.array([1, 0.2, 0.2, 0.7, 0, 0, 0.5, -0.5, 1, 0.1])
    for speed in speeds:
        _, _, _, truncated, infos = envs.step(np.array([[speed, 0]], np.float32))
    assert truncated[0]
    acceleration = np.diff(speeds, prepend=0) / 0.1
    jerk = np.abs(np.diff(acceleration, prepend=0)) / 0.1
    assert infos["jerk"][0] == pytest.approx(jerk.mean(), rel=0.01)


def trace(num_envs: int, num_threads: int) -> list[np.ndarray]:
    envs = gym.make_vec(CROWD, num_envs=num_envs, num_threads=num_threads)
    envs.reset(seed=3)
    out = []
    for i in range(170):  # beyond the end of an episode
        action = np.tile(np.array([[0.3, np.cos(i / 7)]], np.float32), (num_envs, 1))
        observation, reward, *_ = envs.step(action)
        out += [observation["neighbours"][:2].copy(), reward[:2].copy()]
    envs.close()
    return out


def test_same_whatever_the_batch() -> None:
    assert all(np.array_equal(a, b) for a, b in zip(trace(2, 1), trace(5, 2), strict=True))


@pytest.mark.parametrize("policy", ["social_force", "orca", "random", "go_to_goal", "python"])
def test_snapshot_goes_on(policy: str) -> None:
    """Goals, speeds and velocities are part of it."""
    functions = {"body_policies": {"people": to_goal}} if policy == "python" else {}
    one = gym.make(CROWD, policy=policy, terminate={"collision": False}, **functions).unwrapped
    one.reset(seed=4)
    for _ in range(20):
        one.step(STANDING)
    twin = pickle.loads(pickle.dumps(one)) if policy == "python" else one
    state = one.snapshot()
    first = [one.step(STANDING)[0]["neighbours"] for _ in range(30)]
    twin.restore(state)
    again = [twin.step(STANDING)[0]["neighbours"] for _ in range(30)]
    assert np.array_equal(first, again)
    assert not np.array_equal(first[0], first[-1])


def test_python_policy_moves_people() -> None:
    """As the native policy of the same rule does, but for the roundings of the two."""
    ours = gym.make_vec(CROWD, num_envs=3, policy="python", body_policies={"people": to_goal})
    ours.reset(seed=2)
    before = ours.read("body:*/pose")[..., :2]
    goals, speeds = ours.read("body:*/goal"), ours.read("body:*/speed")
    ours.step(np.tile(STANDING, (3, 1)))
    way = goals - before
    expected = before + 0.2 * speeds[..., None] * way / np.linalg.norm(way, axis=-1, keepdims=True)
    assert ours.read("body:*/pose")[..., :2] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("adapter", ["sb3", "pettingzoo"])
def test_python_policy_moves_people_of_adapters(adapter: str) -> None:
    """As it moves those of `make_vec`."""
    keywords: dict[str, Any] = {"policy": "python", "body_policies": {"people": to_goal}}
    rows = gym.make_vec(CROWD, num_envs=1, **keywords)
    rows.reset(seed=2)
    if adapter == "sb3":
        pytest.importorskip("stable_baselines3", reason="the extra sb3 is not installed")
        from mvsim_gym.sb3 import MVSimVecEnv

        envs: Any = MVSimVecEnv(CROWD, 1, **keywords)
        envs.seed(2)
        envs.reset()
        advance: Any = lambda env: env.step(STANDING[None])  # noqa: E731
        with pytest.raises(ValueError, match=r"body_policies\['people'\] is a Python function"):
            envs.spec.to_json()
    else:
        pytest.importorskip("pettingzoo", reason="the extra pettingzoo is not installed")
        from mvsim_gym.pettingzoo import parallel_env

        envs = parallel_env(CROWD, **keywords)
        envs.reset(seed=2)
        advance = lambda env: env.step({env.agents[0]: STANDING})  # noqa: E731
    before = rows.read("body:*/pose")[0]
    twin = pickle.loads(pickle.dumps(envs))
    for _ in range(3):
        rows.step(STANDING[None])
        advance(envs)
        advance(twin)
    expected = rows.read("body:*/pose")[0]
    assert np.linalg.norm((expected - before)[:, :2], axis=1).min() > 0.1
    for env in (envs, twin):
        assert (env.read("body:*/pose").reshape(expected.shape) == expected).all()
    with pytest.raises(ValueError, match="'people' has the policy social_force"):
        type(envs)(CROWD, body_policies={"people": to_goal})


def test_python_policy_that_is_wrong_is_named() -> None:
    envs = gym.make_vec(
        CROWD, num_envs=2, policy="python", body_policies={"people": lambda view: np.zeros(3)}
    )
    envs.reset(seed=0)
    with pytest.raises(TermError, match=r"body policy 'people'.*found shape \(3,\)"):
        envs.step(np.tile(STANDING, (2, 1)))


def test_functions_and_policies_must_fit() -> None:
    with pytest.raises(ValueError, match="expected a function for it"):
        gym.make_vec(CROWD, policy="python")
    with pytest.raises(ValueError, match="'people' has the policy social_force"):
        gym.make_vec(CROWD, body_policies={"people": to_goal})


@pytest.mark.parametrize(
    ("movers", "message"),
    [
        ('<people policy="orka"/>', r"policy: found 'orka'.*did you mean 'orca'"),
        ('<people n="500"/>', "n: found '500'"),
        ('<people horizen="2" policy="orca"/>', "unknown attribute 'horizen', did you mean 'horizon'"),
        ('<people policy="waypoints"/>', "expected the attribute 'points'"),
        ('<people policy="waypoints" points="1 2 3"/>', "found 3 numbers"),
        ('<people scene="circle"/>', "expected the attribute 'circle' too"),
        ('<people name="box" n="1"/><move bodies="bax"/>', "'bax', which matches no block"),
        ('<move bodies="robot"/>', "'robot', which matches no block of the world and no vehicle without"),
        ('<move bodies="box"/><move name="b" bodies="b*"/>', "moves already"),
    ],
)
def test_mistakes(tmp_path: Path, movers: str, message: str) -> None:
    with pytest.raises(mvsim_gym.WorldFileError, match=message):
        env(tmp_path, movers)


def test_no_room_is_said(tmp_path: Path) -> None:
    envs = env(tmp_path, '<people n="40" scene="circle" circle="1"/>')
    with pytest.raises(ValueError, match="found no room for 'people"):
        envs.reset(seed=0)


@pytest.mark.parametrize("policy", ["social_force", "orca"])
@pytest.mark.parametrize("aware", [True, False])
def test_who_is_aware_of_robots_goes_round_them(policy: str, aware: bool, tmp_path: Path) -> None:
    """A person whose way to and fro leads over a robot that stands; it walks around every robot that it sees."""
    told = "" if aware else 'aware="false"'
    people = f'<people n="1" policy="{policy}" speed="1" scene="circle" circle="2" {told}/>'
    nearest, hits = [], 0
    for seed in range(4):
        envs = env(tmp_path, people, time_limit=8)
        envs.reset(seed=seed)
        assert envs.read("body:people1/radius")[0] == 0.3  # unless it is said
        while True:
            _, _, terminated, truncated, infos = envs.step(np.zeros((1, 2), np.float32))
            if terminated[0] or truncated[0]:
                break
        hits += bool(infos["collision/person"][0])
        nearest.append(infos["person_distance"][0])
        envs.close()
    assert (hits == 0 and min(nearest) > 0) if aware else hits == 4


def test_cameras_see_people(tmp_path: Path) -> None:
    """A person 2 m ahead: the front is 1.7 m away, from the camera's height up to the head."""
    camera = """<sensor class="rgbd_camera" name="eye"><pose_3d>0 0 0.5 0 0 0</pose_3d>
      <depth_std_noise>0</depth_std_noise></sensor>"""
    path = world(tmp_path)
    text = Path(path).read_text().replace("<sensor class=", f"{camera}<sensor class=", 1)
    Path(path).write_text(text)
    standing = '<people n="1" policy="waypoints" points="2 0" loop="false"/>'
    plain = ENV.replace("<observe ", '<observe class="depth" max="10"/><observe class="labels"/><observe ', 1)
    (tmp_path / "bodies.env.xml").write_text(plain % standing)
    envs = mvsim_gym.VectorEnv(str(tmp_path / "bodies.env.xml"), num_envs=1)
    observation, _ = envs.reset(seed=0)
    depth, labels = observation["depth"][0], observation["labels"][0]
    row, column = depth.shape[0] // 2, depth.shape[1] // 2
    assert depth[row, column] == pytest.approx(1.7, abs=0.02)
    seen = labels == labels[row, column]
    assert 0.01 < seen.mean() < 0.5 and np.abs(depth[seen] - 1.85).max() < 0.2
    (tmp_path / "bodies.env.xml").write_text(plain % "")
    assert mvsim_gym.VectorEnv(str(tmp_path / "bodies.env.xml")).reset()[0]["depth"][0][row, column] > 5
