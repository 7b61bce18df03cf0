"""Terms in Python where a world has several agents: a row each, in `make_vec` and in PettingZoo's `parallel_env`."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import equal
from gymnasium.vector import AutoresetMode

import mvsim_gym
from mvsim_gym.errors import TermError

MODES = list(AutoresetMode)
ROBOT = """<vehicle name="{}"><init_pose>{}</init_pose>
  <dynamics class="differential"><controller class="twist_ideal"/></dynamics></vehicle>"""
# r1 and r2 stand apart; r3 has its goal ahead
POSES = {"r1": "0 0 0", "r2": "4 0 180", "r3": "0 5 0"}
TEAM = """<mvsim_env world="team.world.xml" control_period="0.1" time_limit="3">
<agent vehicles="r*"><action class="twist" vx="0 1" omega="-1 1"/>
  <observe class="goal"/><observe class="neighbours" count="2"/></agent>
<reset><goal position="2 5"/></reset>
<reward class="time"/>
<terminate class="goal" radius="0.5"/>
</mvsim_env>"""
ON = np.array([[-1, 0], [-1, 0], [1, 0]], np.float32)


@pytest.fixture
def team(tmp_path: Path) -> str:
    robots = "".join(ROBOT.format(name, pose) for name, pose in POSES.items())
    (tmp_path / "team.world.xml").write_text(f"<mvsim_world>{robots}</mvsim_world>")
    path = tmp_path / "team.env.xml"
    path.write_text(TEAM)
    return str(path)


def smooth(view: Any) -> np.ndarray:
    return -np.square(view.actions - view.previous_actions).sum(axis=1)


def placed(view: Any) -> np.ndarray:
    """Pose, time and a noise; ones tell rows that are written from those that are not."""
    noise = view.random.normal(0, 0.1, size=1)
    return np.column_stack([view.poses, view.times, noise, np.ones(view.num_envs)])


def lost(view: Any) -> np.ndarray:
    return (view.times > 1) & (view.random.uniform(size=1)[:, 0] < 0.02)


ALL: dict[str, Any] = {
    "reward_terms": {"smooth": smooth},
    "observation_terms": {"placed": placed},
    "termination_terms": {"lost": lost},
}


def trace(envs: mvsim_gym.VectorEnv, steps: int, rows: int) -> list[Any]:
    random = np.random.default_rng(5).uniform(-1, 1, (steps, 64, 2)).astype(np.float32)
    out: list[Any] = [{key: array[:rows] for key, array in envs.reset(seed=9)[0].items()}]
    for actions in random:
        observation, reward, terminated, truncated, infos = envs.step(actions[: envs.num_envs])
        out.append({key: array[:rows] for key, array in observation.items()})
        out.append([array[:rows] for array in (reward, terminated, truncated, infos["alive"])])
    return out


def test_rows_see_their_own_vehicle_goal_and_action(team: str) -> None:
    seen: dict[str, np.ndarray] = {}

    def spy(view: Any) -> None:
        assert (view.num_envs, view.num_agents) == (6, 3)
        seen.update(poses=view.poses, goals=view.goals, actions=view.actions, before=view.previous_actions)
        seen.update(contact=view.contact, times=view.times, first=view.read("vehicle:r1/pose"))
        seen.update(twists=view.twists, draws=view.random.uniform(size=2))

    envs = mvsim_gym.VectorEnv(team, num_envs=6, reward_terms={"spy": spy})
    envs.reset(seed=0)
    actions = np.linspace(-1, 1, 12, dtype=np.float32).reshape(6, 2)
    envs.step(actions)
    envs.step(-actions)
    for row in range(6):
        own = f"vehicle:{envs.agent_names[row % 3]}"
        assert (seen["poses"][row] == envs.read(f"{own}/pose")[row // 3]).all()
        assert (seen["twists"][row] == envs.read(f"{own}/twist")[row // 3]).all()
        assert (seen["first"][row] == envs.read("vehicle:r1/pose")[row // 3]).all()
    assert (seen["actions"] == -actions).all() and (seen["before"] == actions).all()
    assert (seen["goals"] == [2, 5]).all() and seen["contact"].shape == (6,)
    assert seen["times"] == pytest.approx(np.full(6, 0.2))
    assert len(np.unique(seen["draws"])) == 12


def test_rewards_are_paid_and_summed_by_row(team: str) -> None:
    def by_row(view: Any) -> np.ndarray:
        return np.arange(1.0, view.num_envs + 1)

    plain = mvsim_gym.VectorEnv(team, num_envs=6)
    envs = mvsim_gym.VectorEnv(team, num_envs=6, reward_terms={"by_row": by_row})
    plain.reset(seed=0)
    envs.reset(seed=0)
    for steps in range(1, 30):
        alive = envs.alive
        without, result = plain.step(np.tile(ON, (2, 1))), envs.step(np.tile(ON, (2, 1)))
        assert result[1] - without[1] == pytest.approx(np.where(alive, np.arange(1, 7), 0))
        if result[2].any():
            assert result[2].tolist() == [False, False, True] * 2
            assert result[4]["reward/by_row"] == pytest.approx([0, 0, 3 * steps, 0, 0, 6 * steps])
            assert result[4]["_reward/by_row"].tolist() == result[2].tolist()
            return
    raise AssertionError("nobody arrived")


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_rows_of_the_dead_are_zero(team: str, mode: AutoresetMode) -> None:
    """r2 is ended by a term, and its row is zero until the world begins anew; so is the environment's own."""

    def second(view: Any) -> np.ndarray:
        return (np.arange(view.num_envs) % 3 == 1) & (view.times > 0.45)

    envs = mvsim_gym.VectorEnv(
        team,
        num_envs=6,
        autoreset_mode=mode,
        observation_terms={"placed": placed},
        termination_terms={"second": second},
    )
    observation, _ = envs.reset(seed=1)
    assert (observation["placed"][:, -1] == 1).all()
    dead = 0
    for _ in range(29):
        before = envs.alive
        observation, _, terminated, _, infos = envs.step(np.tile(-np.abs(ON), (2, 1)))
        same = mode is AutoresetMode.SAME_STEP
        shown = envs.alive if same else before
        assert (observation["placed"][:, -1] == shown).all()
        for key in ("placed", "neighbours", "goal"):
            assert not observation[key][~shown].any(), key
        if terminated.any():
            assert terminated.tolist() == [False, True, False] * 2
            ends = infos["final_info"] if same else infos
            assert ends["terminated/second"].tolist() == terminated.tolist()
            if same:
                assert infos["final_obs"][1]["placed"][-1] == 1 and infos["final_obs"][1]["placed"][3] == 0.5
        dead += int((~before).sum())
    assert dead == 2 * 24


@pytest.mark.parametrize("on_end", ["wait", "respawn", "end_all"])
def test_same_bytes_over_num_envs_and_threads(team_id: str, on_end: str) -> None:
    keywords = {"on_end": on_end, "time_limit": 8, **ALL}
    one = mvsim_gym.VectorEnv(team_id, num_envs=4, **keywords)  # a world of MultiNav, two of RaceDuel
    many = mvsim_gym.VectorEnv(team_id, num_envs=64, num_threads=3, **keywords)
    equal(trace(one, 100, 4), trace(many, 100, 4))


def test_copies_pickles_and_states_go_on(team: str) -> None:
    envs = mvsim_gym.VectorEnv(team, num_envs=6, **ALL)
    envs.reset(seed=1)
    while envs.alive.all():
        last = envs.step(np.tile(ON, (2, 1)))
    last = envs.step(np.tile(ON, (2, 1)))
    assert not last[0]["placed"][~envs.alive].any()
    state = envs.snapshot()
    twins = [copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))]
    result = envs.step(np.tile(ON, (2, 1)))
    for twin in twins:
        equal(twin.step(np.tile(ON, (2, 1))), result)
    restored = envs.restore(state)
    assert not restored["placed"][~envs.alive].any() and restored["placed"][envs.alive, -1].all()
    equal(envs.step(np.tile(ON, (2, 1)))[:4], result[:4])


def test_errors_name_the_term_and_the_world(team: str) -> None:
    cases: list[tuple[Any, str]] = [
        (lambda view: np.zeros(2), r"reward term 'bad': found shape \(2,\), expected \(6,\)"),
        (
            lambda view: np.where(np.arange(6) == 4, np.nan, 0.0),
            "reward term 'bad': environment 1: found nan",
        ),
    ]
    for function, text in cases:
        envs = mvsim_gym.VectorEnv(team, num_envs=6, reward_terms={"bad": function})
        envs.reset(seed=0)
        with pytest.raises(TermError, match=text):
            envs.step(np.tile(ON, (2, 1)))


@pytest.mark.parametrize("flatten", [False, True])
def test_parallel_environment_equals_the_rows(team_id: str, flatten: bool) -> None:
    pytest.importorskip("pettingzoo", reason="the extra pettingzoo is not installed")
    from mvsim_gym.pettingzoo import parallel_env

    keywords = {"time_limit": 6, "flatten": flatten, **ALL}
    env = parallel_env(team_id, **keywords)
    names = env.possible_agents
    rows = mvsim_gym.VectorEnv(team_id, num_envs=len(names), autoreset_mode="Disabled", **keywords)
    first, _ = env.reset(seed=3)
    flat = [] if flatten else list(rows.single_observation_space)
    assert flatten or "placed" in env.observation_space(names[0]).spaces
    rng = np.random.default_rng(1)

    def of_row(observation: Any, row: int) -> Any:
        return {key: observation[key][row] for key in flat} if flat else observation[row]

    observation, _ = rows.reset(seed=3)
    equal(first, {name: of_row(observation, row) for row, name in enumerate(names)})
    ends = 0
    while env.agents:
        actions = rng.uniform(-1, 1, (len(names), 2)).astype(np.float32)
        result = env.step({name: actions[names.index(name)] for name in env.agents})
        expected = rows.step(actions)
        for name, own in result[0].items():
            row = names.index(name)
            equal(own, of_row(expected[0], row))
            assert [part[name] for part in result[1:4]] == [part[row] for part in expected[1:4]]
            if result[2][name] or result[3][name]:
                assert result[4][name]["reward/smooth"] == expected[4]["reward/smooth"][row]
                ends += 1
    assert ends == len(names)
