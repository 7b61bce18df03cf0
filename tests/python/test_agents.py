"""Several agents in a world: a row each in `make_vec`, a mask of those that live, and what refuses them.

Worlds in text, of robots that face each other, so that the end of each is known. The core's own tests have the rest.
"""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import equal
from gymnasium.vector import AutoresetMode

import mvsim_gym

AGENT = """<agent vehicle="robot"><action class="twist" vx="0 0.22" omega="-2 2"/><observe class="velocity"/>{}</agent>
"""
ENV = """<mvsim_env world="nav_arena.world.xml" control_period="0.2" time_limit="10">
{}</mvsim_env>"""

ROBOT = """<vehicle name="{}"><init_pose>{}</init_pose>
  <dynamics class="differential"><controller class="twist_ideal"/></dynamics></vehicle>"""
# r1 and r2 meet after some 18 steps at full speed; r3 has its goal ahead
POSES = {"r1": "0 0 0", "r2": "4 0 180", "r3": "0 5 0"}
TEAM = """<mvsim_env world="team.world.xml" control_period="0.1" time_limit="6" {}>
<agent vehicles="r*"><action class="twist" vx="0 1" omega="-1 1"/>
  <observe class="goal"/><observe class="neighbours" count="2"/></agent>
<reset><goal position="2 5"/></reset>
<reward class="time"/>
<terminate class="goal" radius="0.5"/><terminate class="collision" then="leave"/>
</mvsim_env>"""
MEET = np.array([[1, 0], [1, 0], [-1, 0]], np.float32)
ON = np.array([[0, 0], [0, 0], [1, 0]], np.float32)


def write(folder: Path, content: str) -> str:
    path = folder / "task.env.xml"
    path.write_text(ENV.format(content))
    return str(path)


def world(name: str) -> str:
    return str(Path(mvsim_gym.__file__).parents[2] / "worlds" / name)


@pytest.fixture
def team(tmp_path: Path) -> str:
    robots = "".join(ROBOT.format(name, pose) for name, pose in POSES.items())
    (tmp_path / "team.world.xml").write_text(f"<mvsim_world>{robots}</mvsim_world>")
    path = tmp_path / "team.env.xml"
    path.write_text(TEAM.format(""))
    return str(path)


def test_a_single_environment_has_no_room_for_several_agents(tmp_path: Path, team: str) -> None:
    for path in (team, write(tmp_path, AGENT.format("") * 2)):
        with pytest.raises(ValueError, match=r"several agents.*parallel_env, or gymnasium\.make_vec"):
            gym.make("mvsim/Custom-v0", env=path)


def test_rewards_and_terminations_may_stand_inside_the_agent(tmp_path: Path) -> None:
    terms = '<reward class="time" weight="-3"/><terminate class="collision"/>'
    path = write(tmp_path, AGENT.format(terms))
    env = gym.make("mvsim/Custom-v0", env=path, world=world("nav_arena.world.xml"), reward={"time": -0.5})
    env.reset(seed=1)
    assert env.step(env.action_space.sample())[1] == -0.5


def test_two_agents_of_one_vehicle_are_refused_at_their_line(tmp_path: Path) -> None:
    path = write(tmp_path, AGENT.format("") * 2)
    with pytest.raises(mvsim_gym.WorldFileError, match=r"task\.env\.xml:3:1: .*'robot' of another agent"):
        gym.make_vec("mvsim/Custom-v0", env=path, num_envs=2, world=world("nav_arena.world.xml"))


def test_num_envs_counts_rows(team: str) -> None:
    envs = mvsim_gym.VectorEnv(team, num_envs=6)
    assert (envs.num_envs, envs.num_worlds, envs.num_agents) == (6, 2, 3)
    assert envs.agent_names == ["r1", "r2", "r3"]
    observation, infos = envs.reset(seed=1)
    assert observation["goal"].shape == (6, 3) and envs.action_space.shape == (6, 2)
    assert infos["alive"].all() and infos["alive"].shape == (6,) and infos["_alive"].all()
    for count in (1, 4):
        with pytest.raises(ValueError, match=rf"num_envs: found {count}, expected a multiple of 3"):
            mvsim_gym.VectorEnv(team, num_envs=count)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_mask_says_which_rows_live(team: str, mode: AutoresetMode) -> None:
    envs = gym.make_vec("mvsim/Custom-v0", env=team, num_envs=6, autoreset_mode=mode).unwrapped
    envs.reset(seed=1)
    still = np.array([[-1, 0]] * 3, np.float32)
    for _ in range(40):  # of the first world; the second stands
        _, reward, terminated, truncated, infos = envs.step(np.concatenate([MEET, still]))
        assert reward.tolist() == [1] * 6
        if terminated.any():
            break
    assert terminated.tolist() == [True, True] + [False] * 4 and not truncated.any()
    assert infos["alive"].tolist() == [False, False] + [True] * 4
    ends = infos["final_info"] if mode is AutoresetMode.SAME_STEP else infos
    assert ends["_collision"].tolist() == [True, True] + [False] * 4 and ends["collision/agent"][:2].all()
    if mode is AutoresetMode.SAME_STEP:
        assert infos["final_obs"][0]["goal"][0] > 0 and infos["final_obs"][2] is None
    observation, reward, terminated, truncated, infos = envs.step(np.concatenate([ON, still]))
    assert reward.tolist() == [0, 0, 1, 1, 1, 1]
    assert not observation["goal"][:2].any() and observation["goal"][2:].any(axis=1).all()
    assert not observation["neighbours"][2].any()  # those that collided have left
    assert not (terminated | truncated).any() and infos.keys() == {"alive", "_alive"}
    equal(envs.alive, infos["alive"])
    while envs.alive[2]:
        _, _, terminated, _, infos = envs.step(np.concatenate([ON, still]))
        if mode is AutoresetMode.SAME_STEP and terminated[2]:
            break
    assert terminated.tolist() == [False, False, True] + [False] * 3
    if mode is AutoresetMode.DISABLED:
        with pytest.raises(gym.error.ResetNeeded):
            envs.step(np.concatenate([ON, still]))
        mask = np.array([True] * 3 + [False] * 3)
        with pytest.raises(ValueError, match="some of the rows of world 0, expected all 3 or none"):
            envs.reset(options={"reset_mask": mask & (np.arange(6) > 0)})
        envs.reset(options={"reset_mask": mask})
    elif mode is AutoresetMode.NEXT_STEP:
        envs.step(np.concatenate([ON, still]))
    assert envs.alive.all()
    assert envs.read("time")[0] < envs.read("time")[1]


def test_rows_that_respawn(team: str) -> None:
    envs = mvsim_gym.VectorEnv(team, num_envs=3, on_end="respawn", autoreset_mode="SameStep")
    envs.reset(seed=1)
    for _ in range(30):
        observation, _, terminated, _, infos = envs.step(ON)
        assert infos["alive"].all() and observation["goal"].any(axis=1).all()
        if terminated.any():
            assert terminated.tolist() == [False, False, True]
            assert infos["final_obs"][2]["goal"][0] < 0.5 < observation["goal"][2, 0]
            return
    raise AssertionError("nobody arrived")


def test_on_end_is_a_keyword_and_names_its_values(team: str) -> None:
    envs = mvsim_gym.VectorEnv(team, num_envs=3, on_end="end_all")
    envs.reset(seed=1)
    for _ in range(30):
        _, _, terminated, truncated, _ = envs.step(ON)
        if terminated.any():
            break
    assert terminated.tolist() == [False, False, True] and truncated.tolist() == [True, True, False]
    with pytest.raises(
        mvsim_gym.WorldFileError, match="on_end: found 'never', expected wait, respawn or end_all"
    ):
        mvsim_gym.VectorEnv(team, num_envs=3, on_end="never")


def trace(envs: mvsim_gym.VectorEnv, steps: int, rows: int) -> list[Any]:
    random = np.random.default_rng(5).uniform(-1, 1, (steps, 64, 2)).astype(np.float32)
    out = [{key: array[:rows] for key, array in envs.reset(seed=9)[0].items()}]
    for actions in random:
        observation, reward, terminated, truncated, infos = envs.step(actions[: envs.num_envs])
        out.append({key: array[:rows] for key, array in observation.items()})
        out.append([array[:rows] for array in (reward, terminated, truncated, infos["alive"])])
    return out


@pytest.mark.parametrize("on_end", ["wait", "respawn", "end_all"])
def test_same_bytes_over_num_envs_and_threads(team_id: str, on_end: str) -> None:
    keywords = {"on_end": on_end, "time_limit": 8}
    one = mvsim_gym.VectorEnv(team_id, num_envs=4, **keywords)  # a world of MultiNav, two of RaceDuel
    many = mvsim_gym.VectorEnv(team_id, num_envs=64, num_threads=3, **keywords)
    equal(trace(one, 100, 4), trace(many, 100, 4))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))])
def test_copies_go_on_where_some_wait(team: str, copied: Any) -> None:
    envs = mvsim_gym.VectorEnv(team, num_envs=3)
    envs.reset(seed=1)
    while envs.alive.all():
        envs.step(MEET)
    state = envs.snapshot()
    twin = copied(envs)
    equal(envs.alive, twin.alive)
    for _ in range(40):
        equal(envs.step(ON), twin.step(ON))
    envs.restore(state)
    assert envs.alive.tolist() == [False, False, True]


def test_seeds_states_and_pictures_belong_to_worlds(team_id: str) -> None:
    agents = len(mvsim_gym.VectorEnv(team_id, num_envs=4).agent_names)
    envs = mvsim_gym.VectorEnv(team_id, num_envs=2 * agents, render_mode="rgb_array", width=64, height=48)
    both, _ = envs.reset(seed=[3, 4])
    assert len(envs.get_state()) == len(envs.np_random) == len(envs.render()) == 2
    second, _ = mvsim_gym.VectorEnv(team_id, num_envs=agents).reset(seed=4)
    equal({key: rows[agents:].copy() for key, rows in both.items()}, second)
    assert envs.read("vehicle:*/pose").shape == (2, agents, 3)
    envs.close()


def test_idle_teams_earn_nothing_and_chance_does_not_win(team_id: str) -> None:
    envs = mvsim_gym.VectorEnv(team_id, num_envs=80, on_end="wait")
    rng = np.random.default_rng(0)
    for idle in ([-1, 0], [-1, 1], None):
        envs.reset(seed=5)
        total, won, running = np.zeros(80), np.zeros(80, bool), np.ones(80, bool)
        while running.any():
            actions = rng.uniform(-1, 1, (80, 2)) if idle is None else np.tile(idle, (80, 1))
            _, reward, terminated, truncated, infos = envs.step(actions.astype(np.float32))
            total += np.where(running, reward, 0)
            won |= running & infos.get("success", np.zeros(80, bool))
            running &= ~(terminated | truncated)
        assert total.mean() < 0 and won.mean() < 0.15


# ---------------------------------------------------------------- the state of each agent from outside


def test_each_agent_has_a_goal_that_is_read_and_set(team_id: str) -> None:
    envs = mvsim_gym.VectorEnv(team_id, num_envs=12)
    envs.reset(seed=4)
    actions = np.random.default_rng(0).uniform(-1, 1, (12, 2)).astype(np.float32)
    envs.step(actions)
    agents = envs.num_agents
    assert envs.read("agent:*/action") == pytest.approx(actions.reshape(-1, agents, 2), abs=1e-6)
    equal(envs.read("agent:*/action")[:, 0], envs.read("action"))
    last = envs.agent_names[-1]
    equal(envs.read(f"agent:{last}/previous_action"), envs.read("agent:*/previous_action")[:, -1])
    if "goal" not in envs.names():
        with pytest.raises(ValueError, match="found 'agent:r2/goal', which this environment does not have"):
            envs.read("agent:r2/goal")
        return
    goals = envs.read("agent:*/goal")
    assert goals.shape == (envs.num_worlds, agents, 2) and len(np.unique(goals.reshape(-1, 2), axis=0)) == 12
    equal(goals[:, 0], envs.read("goal"))
    here = envs.read(f"vehicle:{last}/pose")[:, :2]
    envs.write(f"agent:{last}/goal", here)
    equal(envs.read("agent:*/goal")[:, :-1], goals[:, :-1])
    _, _, terminated, _, infos = envs.step(np.zeros((12, 2), np.float32))
    assert terminated.reshape(-1, agents)[:, -1].all() and infos["success"].reshape(-1, agents)[:, -1].all()
    with pytest.raises(ValueError, match="did you mean 'agent:r2/goal'"):
        envs.read("agent:r2/gaol")
    with pytest.raises(ValueError, match="cannot be set"):
        envs.write("agent:r2/action", [0, 0])


PLACES = np.array([[0, 0, 0.5], [1, 1, 1], [-1, 2, -1], [2, -2, 3.0]])
GOALS = np.array([[2.5, 2.5], [-2.5, -2.5], [-2.5, 2.5], [2.5, 0.5]])


def test_each_agent_starts_and_ends_where_it_is_said() -> None:
    envs = mvsim_gym.VectorEnv("mvsim/MultiNav-v0", num_envs=8)
    poses, goals = np.concatenate([PLACES, PLACES[::-1]]), np.concatenate([GOALS[::-1], GOALS])
    for options in (
        {"pose": poses, "goal": goals},
        {"pose": poses.reshape(2, 4, 3), "goal": goals.reshape(2, 4, 2)},
        {"pose": list(poses), "goal": list(goals)},
    ):
        observation, _ = envs.reset(seed=1, options=options)
        assert envs.read("vehicle:r*/pose").reshape(8, 3) == pytest.approx(poses, abs=1e-6)
        equal(envs.read("agent:*/goal").reshape(8, 2), goals)
        assert observation["goal"][:, 0] == pytest.approx(
            np.linalg.norm(goals - poses[:, :2], axis=1), rel=1e-5
        )
    blocks = envs.read("block:obstacle*/pose")[:, :, None, :2]
    taken = np.concatenate([poses[:, :2].reshape(2, 4, 2), goals.reshape(2, 4, 2)], axis=1)[:, None]
    assert np.linalg.norm(blocks - taken, axis=-1).min() > 0.2  # obstacles keep off all of them


def test_agents_whose_start_is_left_open_keep_off_those_that_are_given() -> None:
    envs = mvsim_gym.VectorEnv("mvsim/MultiNav-v0", num_envs=40)
    # where the world has the last robot before it is placed, which hinders none
    initial = mvsim_gym.World(world("multi_nav.world.xml")).vehicles["r4"].pose
    place = [initial.x, initial.y, 0.5]
    envs.reset(seed=3, options={"pose": {"r2": place}, "goal": {"r3": [2.5, 2.5]}})
    found = envs.read("vehicle:r*/pose")
    assert found[:, 1] == pytest.approx(np.tile(place, (10, 1)), abs=1e-6)
    assert (envs.read("agent:r3/goal") == [2.5, 2.5]).all()
    apart = np.linalg.norm(found[:, :, None, :2] - found[:, None, :, :2], axis=-1) + 10 * np.eye(4)
    assert apart.min() > 0.2
    assert len(np.unique(found[:, 2], axis=0)) == 10
    rows = [None] * 40
    rows[5] = [0, 0, 0]
    envs.reset(seed=6, options={"pose": rows})
    assert envs.read("vehicle:r2/pose")[1] == pytest.approx([0, 0, 0], abs=1e-6)
    others = envs.read("vehicle:r*/pose", envs=range(2, 10))
    envs.reset(seed=6)
    equal(envs.read("vehicle:r*/pose", envs=range(2, 10)), others)  # not named by the reset
    envs.reset(options={"pose": [1, 0, 0]})  # of the first robot
    assert envs.read("vehicle:r1/pose") == pytest.approx(np.tile([1, 0, 0], (10, 1)), abs=1e-6)
    assert len(np.unique(envs.read("vehicle:r2/pose"), axis=0)) == 10


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"pose": {"r2": [0, 0, 0], "r3": [0.05, 0, 0]}},
            "environment 0: .*pose of 'r2' 0 0 that was given touches",
        ),
        (
            {"pose": {"r9": [0, 0, 0]}},
            r"options\['pose'\]: found the agent 'r9', expected one of r1, r2, r3, r4",
        ),
        (
            {"pose": np.zeros((3, 3))},
            r"found 3, expected \(3,\) for all envs or .*\(8, 3\), one for each row",
        ),
        ({"goal": {"r2": [np.nan, 0]}}, "goal of 'r2': found nan"),
        ({"goal": {"r2": [1, 2, 3]}}, r"options\['goal'\]: found shape \(3,\), expected \(2,\): x, y"),
    ],
)
def test_places_of_agents_that_cannot_be(options: dict[str, Any], text: str) -> None:
    envs = mvsim_gym.VectorEnv("mvsim/MultiNav-v0", num_envs=8)
    with pytest.raises(ValueError, match=text):
        envs.reset(seed=0, options=options)
    envs.reset(seed=0)


def test_cars_line_up_beside_those_that_are_given() -> None:
    envs = mvsim_gym.VectorEnv("mvsim/RaceDuel-v0", num_envs=8)
    envs.reset(seed=1)
    place = envs.read("vehicle:car2/pose")[0]
    envs.reset(seed=2, options={"pose": {"car2": place}})
    found = envs.read("vehicle:car*/pose")
    assert found[:, 1] == pytest.approx(np.tile(place, (4, 1)), abs=1e-6)
    apart = np.linalg.norm(found[:, 0, :2] - found[:, 1, :2], axis=1)
    assert apart.min() > 0.4 and apart.max() < 8
