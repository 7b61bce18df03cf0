"""A wish of an environment that cannot be met is a warning with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mvsim_gym

ARENA = "mvsim/NavArena-v0"


def warnings_of(env: str = ARENA, **keywords: Any) -> list[str]:
    return mvsim_gym.VectorEnv(env, num_envs=1, **keywords).warnings


@pytest.mark.parametrize(
    ("env", "name", "range_"),
    [
        (ARENA, "scan", 3.5),
        ("mvsim/DepthNavigation-v0", "depth", 5),
        ("mvsim/Greenhouse-v0", "range_image", 8),
    ],
)
def test_a_max_beyond_the_range_warns(env: str, name: str, range_: float) -> None:
    assert warnings_of(env) == warnings_of(env, observe={name: {"max": range_}}) == []
    (found,) = warnings_of(env, observe={name: {"max": range_ + 1.5}})
    assert f"max: {range_ + 1.5:g} m is beyond the sensor's range of {range_} m" in found


FRICTION = "vehicle:robot/friction/mu"


@pytest.mark.parametrize("mu", ["uniform(0.3, 1.2)", "normal(0.8, 0.1)", "choice(0.5, 0.9)", 0.4])
def test_friction_that_no_tire_reaches_warns(mu: str | float) -> None:
    (found,) = warnings_of(randomize={FRICTION: mu})
    assert found.startswith(f"keyword randomize.{FRICTION}: <randomize> of '{FRICTION}' changes nothing: ")
    assert found.endswith(
        "equal to the bit at both ends of its range, for the tires of 'robot' stay within their grip"
    )
    with pytest.raises(ValueError, match="strict refuses a warning: keyword randomize"):
        warnings_of(randomize={FRICTION: mu}, strict=True)


@pytest.mark.parametrize(
    "randomize",
    [
        {FRICTION: "uniform(0.01, 1.2)"},
        {"vehicle:robot/wheels/*/radius": {"scale": "uniform(0.97, 1.03)"}},
        {"vehicle:robot/controller/KP": {"scale": "uniform(0.5, 2)"}},
        {"vehicle:robot/chassis/mass": {"scale": "uniform(0.5, 2)"}},
        {"block:*/ground_friction": "uniform(0.1, 1)"},  # acts in a collision alone
        {FRICTION: {"value": 0.8}},  # the nominal value
        "strong",
    ],
)
def test_what_changes_an_episode_does_not_warn(randomize: Any) -> None:
    assert warnings_of(randomize=randomize) == []


def test_an_ideal_controller_needs_no_tires(tmp_path: Path) -> None:
    (tmp_path / "w.world.xml").write_text(
        '<mvsim_world><vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential">'
        '<controller class="twist_ideal"/></dynamics></vehicle></mvsim_world>'
    )
    (tmp_path / "e.env.xml").write_text(
        '<mvsim_env world="w.world.xml" control_period="0.1" time_limit="10"><agent vehicle="r">'
        '<action class="twist" vx="-1 1" omega="-1 1"/><observe class="velocity"/></agent><reward class="time"/>'
        '<randomize of="vehicle:r/friction/mu" value="uniform(0.1, 1)"/></mvsim_env>'
    )
    (found,) = warnings_of(str(tmp_path / "e.env.xml"))
    assert "e.env.xml:1:" in found
    assert found.endswith("for the controller 'twist_ideal' moves 'r' without its tires")
