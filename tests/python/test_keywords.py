"""Keywords of an environment: values that cannot be taken, names that it lacks, what it may be called by."""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import equal, run_python

import mvsim_gym
from mvsim_gym._checks import plain_values
from mvsim_gym._constructors import CONSTRUCTORS, all_options
from mvsim_gym._files import assets
from mvsim_gym._overrides import flatten
from mvsim_gym.registration import listing

ARENA = "mvsim/NavArena-v0"
PATH = listing()[ARENA]


class BadInt(int):
    def __float__(self) -> float:
        raise RuntimeError("no float")


class BadError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class RaisesBadError:
    def __float__(self) -> float:
        raise BadError


def self_containing() -> list[Any]:
    inner: list[Any] = []
    inner.append(inner)
    return inner


def zero_d_of_itself() -> np.ndarray:
    array = np.empty((), dtype=object)
    array[()] = array
    return array


class Raises(Sequence[float]):
    def __len__(self) -> int:
        return -5

    def __getitem__(self, index: Any) -> Any:
        raise RuntimeError("boom")


class Endless(Sequence[float]):
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: Any) -> Any:
        return 1.0


class NoKeys(Mapping[str, float]):
    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Any:
        raise OSError("gone")

    def __getitem__(self, key: str) -> float:
        return 1.0


@pytest.mark.parametrize(
    ("value", "kind", "found"),
    [
        (self_containing(), ValueError, "more than 16 deep.*contain itself"),
        (zero_d_of_itself(), ValueError, "more than 16 deep"),
        ({"goal": self_containing()}, ValueError, r"reward\.goal\[0\].*more than 16 deep"),
        (10**400, ValueError, "an integer beyond 1e308"),
        (2**53 + 1, ValueError, "9007199254740993, expected an integer that a float64 holds"),
        ("\udcff", ValueError, r"'\\udcff' at 0"),
        ({"go\ud800al": 1}, ValueError, r"'\\ud800' at 2"),
        ("a\0b", ValueError, r"'\\x00' at 1"),
        (Raises(), TypeError, "a Raises that cannot be read.*boom"),
        (NoKeys(), TypeError, "a NoKeys that cannot be read.*gone"),
        (BadInt(3), TypeError, "a BadInt that cannot be read.*no float"),
        (RaisesBadError(), TypeError, "a RaisesBadError that cannot be read.*BadError"),
        (Endless(), ValueError, "more values than expected, at most 100000"),
        (np.zeros(200_000), ValueError, "200000 values"),
        (b"abc", TypeError, "a bytes"),
        ({1, 2}, TypeError, "a set, expected None, a bool"),
        ({"goal": {3: 1}}, TypeError, r"reward\.goal: found an int as a key"),
        (1j, TypeError, "a complex"),
        (float, TypeError, "a type"),
        (lambda: 1, TypeError, r"a function.*reward_terms"),
    ],
)
def test_values_that_cannot_be_taken(value: Any, kind: type[Exception], found: str) -> None:
    with pytest.raises(kind, match=f"keyword reward.*{found}|{found}"):
        plain_values({"reward": value})
    with pytest.raises(kind, match="keyword reward"):
        mvsim_gym.Env(ARENA, reward=value)


def test_a_list_that_contains_itself_through_gymnasium() -> None:
    done = run_python(
        "import gymnasium as gym, mvsim_gym\na = []\na.append(a)\n"
        f"try: gym.make('{ARENA}', reward=a)\n"
        "except ValueError as error: print('keyword reward' in str(error))"
    )
    assert done.stdout == "True\n", done.stderr


def test_values_that_can() -> None:
    class Text(str):
        __slots__ = ()

    values = {
        "a": np.array(5.0),
        "b": [np.array(3), np.float32(0.5), np.bool_(True), (1, range(2))],
        "c": {"x": Path("/a"), "y": None, "z": Text("t")},
        "d": Decimal("1.5"),
    }
    plain = plain_values(values)
    assert plain == {
        "a": 5.0,
        "b": [3.0, 0.5, True, [1.0, [0.0, 1.0]]],
        "c": {"x": "/a", "y": None, "z": "t"},
        "d": 1.5,
    }
    assert type(plain["b"][2]) is bool and type(plain["c"]["z"]) is str
    nested: Any = 1.0
    for _ in range(16):
        nested = [nested]
    assert plain_values({"a": nested}) == {"a": nested}


def test_signatures_and_docstrings_have_every_option_of_the_table() -> None:
    classes: list[type] = [mvsim_gym.Env, mvsim_gym.VectorEnv]
    if importlib.util.find_spec("stable_baselines3") is not None:
        classes.append(mvsim_gym.sb3.MVSimVecEnv)
    for kind in classes:
        constructor = CONSTRUCTORS[kind.__name__]
        parameters = inspect.signature(kind).parameters
        assert list(parameters) == [constructor.env, *constructor.options, "overrides"]
        for name, option in constructor.options.items():
            assert parameters[name].default is option.default and parameters[name].annotation is not None
            assert f"        {name}: {option.doc[:20]}" in kind.__doc__
    native = {name for name, option in all_options().items() if option.native}
    assert native == {name for name in vars(mvsim_gym._core.BatchOptions) if not name.startswith("_")}


def test_overrides_are_pairs() -> None:
    keywords = {
        "time_limit": None,
        "variants": 2,
        "world": "a.xml",
        "action": {"vx": [0, 0.3], "class": "twist", "omega": None},
        "observe": {"scan": {"sectors": 18, "normalize": True}, "last_action": True, "goal": False},
        "reset": {"goal": {}},
        "reward": {"collision": -20, "turn": None},
        "terminate": False,
        "randomize": {"block:*/scale": "uniform(1, 2)"},
        "map": ["a.yaml", "b.yaml"],
        "radius": ["0.1", 1e5],
    }
    kinds = {**mvsim_gym._core.load_env(PATH, assets()).keywords, "map": "file", "radius": "knob"}
    assert flatten(plain_values(keywords), kinds) == [
        (("time_limit",), 0.0),
        (("variants",), 2.0),
        (("world",), "a.xml"),
        (("action", "class"), "twist"),
        (("action", "vx"), (0.0, 0.3)),
        (("action", "omega"), None),
        (("observe", "scan", "sectors"), 18.0),
        (("observe", "scan", "normalize"), True),
        (("observe", "last_action"), ""),
        (("observe", "goal"), None),
        (("reset", "goal"), ""),
        (("reward", "collision", "weight"), -20.0),
        (("reward", "turn"), None),
        (("terminate",), None),
        (("randomize", "block:*/scale", "scale"), "uniform(1, 2)"),
        (("map",), "a.yaml"),
        (("map",), "b.yaml"),
        (("radius",), ("0.1", 100000.0)),
    ]


@pytest.mark.parametrize(
    ("keywords", "found"),
    [
        ({"time_limit": "long"}, "time_limit: found a text, expected a number"),
        ({"variants": 2.5}, "variants: found a number, expected an integer"),
        ({"variants": 0.5}, "variants: found 0.5, expected a number from 1 to 1000"),
        ({"world": 3}, "world: found a number, expected a text"),
        ({"action": True}, "action: found a bool, expected a dict of attributes (an agent has one action)"),
        ({"reward": 3}, "reward: found a number, expected a dict from the names of terms to values"),
        (
            {"reward": {"goal": {"x": {}}}},
            "reward.goal.x: found a dict, expected a number, bool, text or list",
        ),
        (
            {"reward": {"goal": [[1]]}},
            "reward.goal.weight: found a list, expected numbers or texts in the list",
        ),
        (
            {"reward": {"a\nb": {"class": 3}}},
            "reward.a\\nb.class: found a number, expected the name of a class",
        ),
        (
            {"observe": {"scan": 3}},
            "observe.scan: found a number, expected a dict of attributes, or False to leave it out",
        ),
        ({"obstacles": None}, "obstacles: found None, expected a number, bool, text or list"),
        ({"map": []}, "map: found an empty list, expected one file or several"),
        ({"map": [3]}, "map: found a number, expected the path of a file, or a list of some"),
    ],
)
def test_values_of_another_kind(keywords: dict[str, Any], found: str) -> None:
    id = "mvsim/NavMap-v0" if "map" in keywords else ARENA
    with pytest.raises(mvsim_gym.WorldFileError) as caught:
        mvsim_gym.Env(id, **keywords)
    assert str(caught.value) == f"keyword {found}" and caught.value.line == 0
    assert caught.value.path.startswith("keyword ")


@pytest.mark.parametrize(
    ("keywords", "blamed"),
    [
        ({"obstacles": 250}, "keyword obstacles: "),
        ({"time_limit": 3, "obstacles": 250}, "keyword obstacles: "),
        ({"radius": 2.5, "reward": {"time": -1}}, "keyword radius: "),
        ({"obstacles": 150, "radius": [0.45, 0.45]}, "keywords obstacles, radius: "),
    ],
)
def test_a_start_that_a_keyword_makes_impossible(keywords: dict[str, Any], blamed: str) -> None:
    envs = mvsim_gym.VectorEnv(ARENA, num_envs=2, **keywords)
    with pytest.raises(
        ValueError, match=f"^environment 0: {blamed}.*nav_arena.env.xml:.*no episode can start"
    ):
        envs.reset(seed=1)


@pytest.mark.parametrize(
    ("keyword", "expected"),
    [
        ("frameskip", r"got an unexpected keyword argument 'frameskip'"),
        ("copy", r"unexpected keyword argument 'copy', which is one of gymnasium\.make_vec"),
        (
            "num_envs",
            r"unexpected keyword argument 'num_envs', which is one of gymnasium\.make_vec and mvsim_gym",
        ),
        (
            "max_episode_step",
            r"unexpected keyword argument 'max_episode_step', did you mean 'max_episode_steps'\?",
        ),
        (
            "obstacle",
            r"Env\.__init__\(\) got an unexpected keyword argument 'obstacle', did you mean 'obstacles'\?",
        ),
    ],
)
def test_unknown_keywords_are_worded_as_pythons(keyword: str, expected: str) -> None:
    with pytest.raises(TypeError, match=expected) as caught:
        gym.make(ARENA, **{keyword: 1})
    assert f"did you mean '{keyword}'" not in str(caught.value)


@pytest.fixture
def module_with_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module that registers environments when it is imported."""
    (tmp_path / "my_robots.py").write_text(
        "import gymnasium, mvsim_gym\n"
        f"mvsim_gym.register('mine/Short-v0', {PATH!r}, time_limit=1.0)\n"
        f"mvsim_gym.register('mine/Short-v2', {PATH!r}, time_limit=0.4, strict_actions=True)\n"
        "gymnasium.register('mine/Plain-v0', entry_point='mvsim_gym:Env', max_episode_steps=3,\n"
        f"                   kwargs={{'env': {PATH!r}}})\n"
        "gymnasium.register('mine/Other-v0', entry_point='my_robots:make')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "my_robots"
    for id in [id for id in gym.registry if id.startswith("mine/")]:
        del gym.registry[id]
    sys.modules.pop("my_robots", None)


def steps_of(envs: Any) -> int:
    """Until the first episode of a batch ends."""
    envs.reset(seed=0)
    for step in range(1, 100):
        if envs.step(np.zeros((1, 2), np.float32))[3][0]:
            return step
    raise AssertionError("no end")


def test_everything_that_names_an_environment(module_with_ids: str) -> None:
    assert steps_of(mvsim_gym.VectorEnv("my_robots:mine/Short-v0")) == 5  # nothing had imported it
    assert steps_of(mvsim_gym.VectorEnv("mine/Short-v0")) == 5
    assert steps_of(mvsim_gym.VectorEnv("mine/Short")) == 2  # the latest version
    assert steps_of(mvsim_gym.VectorEnv("mine/Short", time_limit=0.6)) == 3
    assert steps_of(mvsim_gym.VectorEnv("mvsim/NavArena", time_limit=0.6)) == 3
    assert steps_of(mvsim_gym.VectorEnv("mine/Plain-v0")) == 3
    assert steps_of(mvsim_gym.VectorEnv(gym.spec("mine/Short-v0"))) == 5
    assert steps_of(mvsim_gym.VectorEnv(Path(PATH), time_limit=0.6)) == 3
    assert steps_of(gym.make_vec("my_robots:mine/Plain-v0")) == 3
    single = mvsim_gym.Env("mine/Short-v2")
    single.reset(seed=0)
    with pytest.raises(ValueError, match="not finite"):  # a registered keyword of the constructor
        single.step(np.array([np.nan, 0]))
    forgiving = mvsim_gym.Env("mine/Short-v2", strict_actions=False)
    forgiving.reset(seed=0)
    forgiving.step(np.array([np.nan, 0]))
    equal(mvsim_gym.Env(f"mvsim_gym:{ARENA}").reset(seed=3), gym.make(ARENA).reset(seed=3))


def test_specs_for_gymnasium(module_with_ids: str) -> None:
    for env in (PATH, Path(PATH), "my_robots:mine/Short-v0", gym.spec(ARENA), ARENA):
        made = mvsim_gym.spec(env, time_limit=0.6)
        assert steps_of(gym.make_vec(made, num_envs=1)) == 3
        single = gym.make(made)
        single.reset(seed=0)
        assert [single.step(np.zeros(2, np.float32))[3] for _ in range(3)] == [False, False, True]
    assert gym.spec(ARENA).kwargs == {"env": ARENA}
    for refused in (None, 5):
        with pytest.raises(
            TypeError, match=r"env: found an? (int|NoneType), expected the path of a file, or an id"
        ):
            mvsim_gym.spec(refused)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="did you mean 'mvsim/NavArena-v0'"):
        mvsim_gym.spec("mvsim/NavAren-v0")


def test_what_names_no_environment(module_with_ids: str) -> None:
    with pytest.raises(ModuleNotFoundError, match="'nowhere:mine/Task-v0' needs the module 'nowhere'"):
        mvsim_gym.VectorEnv("nowhere:mine/Task-v0")
    with pytest.raises(ValueError, match="'mine/Other-v0' is registered with my_robots:make"):
        mvsim_gym.VectorEnv("my_robots:mine/Other-v0")
    with pytest.raises(ValueError, match="'CartPole-v1' is registered with"):
        mvsim_gym.VectorEnv("CartPole-v1")
    with pytest.raises(TypeError, match=r"found a list of 2 functions, as make_vec_env gives it.*num_envs=2"):
        mvsim_gym.VectorEnv([lambda: None, lambda: None])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"VectorEnv\.__init__\(\): too many positional arguments"):
        mvsim_gym.VectorEnv(ARENA, 2)  # type: ignore[misc]
    with pytest.raises(TypeError, match="env: found an int"):
        mvsim_gym.VectorEnv(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="env: found a text with"):
        mvsim_gym.VectorEnv("a\0.env.xml")


def test_the_spec_of_a_batch_names_it() -> None:
    envs = gym.make_vec(ARENA, num_envs=1, time_limit=0.6)
    assert envs.spec is not None
    assert steps_of(mvsim_gym.VectorEnv(envs.spec)) == 3


def test_folders_whose_names_are_not_unicode(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(folder)
    path = folder + b"/my.env.xml"
    world = Path(PATH).read_text().replace("../worlds/", f"{Path(PATH).parents[1]}/worlds/")
    Path(os.fsdecode(path)).write_text(world)
    roots = [Path(PATH).parents[1]]
    try:
        for env in (path, os.fsdecode(path), Path(os.fsdecode(path))):
            assert steps_of(mvsim_gym.VectorEnv(env, roots=roots, time_limit=0.6)) == 3
            assert steps_of(gym.make_vec(mvsim_gym.spec(env, roots=roots, time_limit=0.6), num_envs=1)) == 3
            mvsim_gym.register("mine/Bytes-v0", env, roots=roots, time_limit=0.6)
            assert steps_of(gym.make_vec("mine/Bytes-v0", num_envs=1)) == 3
    finally:
        gym.registry.pop("mine/Bytes-v0", None)


@pytest.mark.parametrize("name", ["pin", "strict_actions", "spl", "copy"])
def test_flags_are_bools(name: str) -> None:
    for value in (1, "no", None):
        with pytest.raises(TypeError, match=rf"^{name}: found .*, expected True or False"):
            mvsim_gym.VectorEnv(ARENA, **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("roots", "error", "message"),
    [
        ([5], TypeError, r"^roots\[0\]: found an int, expected a path"),
        (5, TypeError, "^roots: found an int, expected a path or a list"),
        (b"/no/where", ValueError, "^roots: '/no/where' is not a folder"),
        (["x" * 5000], ValueError, r"^roots: 'x{197}\.\.\.' is not a folder$"),
        (["a\0"], ValueError, r"^roots\[0\]: found a text with"),
    ],
)
def test_roots_that_are_none(roots: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        mvsim_gym.Env(ARENA, roots=roots)


def test_an_id_that_is_given_anew_counts_everywhere() -> None:
    kept = gym.registry[ARENA]
    try:
        mvsim_gym.register(ARENA, ARENA, time_limit=0.4)
        assert steps_of(mvsim_gym.VectorEnv(ARENA)) == steps_of(gym.make_vec(ARENA)) == 2
    finally:
        gym.registry[ARENA] = kept


@pytest.mark.parametrize("mode", ["human", "rgb_array_list"])
def test_render_modes_that_are_not_drawn_here(mode: str) -> None:
    with pytest.raises(ValueError, match=r"gymnasium\.(make|wrappers)"):
        gym.make_vec(ARENA, num_envs=2, render_mode=mode)
    with pytest.raises(ValueError, match=r"gymnasium\.(make|wrappers)"):
        mvsim_gym.Env(ARENA, render_mode=mode)
