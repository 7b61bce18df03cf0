"""mvsim_gym.tire: the tire models as functions of arrays."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

from mvsim_gym import World, tire
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.tire_manoeuvres import WHEELBASE, friction, skid_pad

DATA = Path(__file__).parent.parent / "data" / "mavs"


def table(name):
    with open(DATA / f"{name}.csv") as file:
        rows = list(csv.DictReader(file))
    return {
        column: np.array([row[column] for row in rows])
        if column == "surface"
        else np.array([float(row[column]) for row in rows])
        for column in rows[0]
    }


def assert_within_share(found, expected, load):
    """The tolerance of the tables: 1e-5 of the load."""
    np.testing.assert_array_less(np.abs(found - expected), 1e-5 * load)


def rigid(slip, b, c, d, e):
    return d * np.sin(c * np.arctan(b * slip - e * (b * slip - np.arctan(b * slip))))


@pytest.mark.parametrize(
    ("surface", "curve"),
    [
        ("dry", (10, 1.9, 1.0, 0.97)),
        ("wet", (12, 2.3, 0.82, 1.0)),
        ("snow", (5, 2.0, 0.3, 1.0)),
        ("ice", (4, 2.0, 0.1, 1.0)),
    ],
)
def test_rigid_surfaces_follow_their_formula(surface, curve):
    slip = np.linspace(-1, 1, 201)
    for form in tire.FORMS:
        longitudinal, _ = tire.vti(surface, form, normal_force=2500, slip=slip)
        np.testing.assert_allclose(longitudinal, 2500 * rigid(slip, *curve), rtol=0, atol=1e-9)


@pytest.mark.parametrize("soil", ["sand", "clay"])
def test_mavs_form_gives_its_output_on_soil(soil):
    rows = table(f"vti_{soil}")
    longitudinal, lateral = tire.vti(
        soil,
        "mavs",
        normal_force=rows["normal_force_N"],
        slip=rows["slip"],
        slip_angle=rows["slip_angle_rad"],
        deflection=rows["deflection_m"],
        cone_index=rows["CI_Pa"],
        width=rows["width_m"],
        diameter=rows["diameter_m"],
        section_height=rows["section_height_m"],
        crossover_angle=np.radians(rows["crossover_deg"]),
    )
    assert_within_share(longitudinal, rows["fx_N"], rows["normal_force_N"])
    assert_within_share(lateral, rows["fy_N"], rows["normal_force_N"])


def test_mavs_update_and_slip_give_its_output():
    rows = table("tire_update_step")
    heading = rows["yaw_rad"] + rows["steer_rad"]
    forward = rows["vx_world"] * np.cos(heading) + rows["vy_world"] * np.sin(heading)
    left = -rows["vx_world"] * np.sin(heading) + rows["vy_world"] * np.cos(heading)
    out = tire.mavs_update(
        rows["surface"],
        cone_index=rows["soil_strength_Pa"],
        radius=rows["radius_m"],
        width=rows["width_m"],
        section_height=rows["section_height_m"],
        stiffness=rows["k_N_per_m"],
        damping=rows["c_N_s_per_m"],
        inertia=rows["moment_kg_m2"],
        viscous=rows["viscous_1_per_s"],
        crossover_angle=np.radians(rows["crossover_deg"]),
        dt=rows["dt_s"],
        depth=rows["radius_m"] - rows["z_m"],
        velocity=(forward, left, rows["vz_world"]),
        steer=rows["steer_rad"],
        spin=rows["omega_in"],
        torque=rows["torque_Nm"],
        starting=(rows["startup_in"] != 0) & (rows["torque_Nm"] == 0),
    )
    load = np.maximum(1, np.abs(rows["force_z_N"]))
    x = out.longitudinal * np.cos(heading) - out.lateral * np.sin(heading)
    assert_within_share(x, rows["force_x_N"], load)
    assert_within_share(out.vertical, rows["force_z_N"], load)
    np.testing.assert_allclose(out.spin, rows["omega_out"], rtol=1e-5, atol=1e-5)

    rows = table("calc_slip")
    ratio, _ = tire.slip_of(
        rows["radius_m"] * rows["omega_rad_s"], rows["vx_m_s"], form="mavs", starting=rows["startup"]
    )
    np.testing.assert_allclose(ratio, rows["slip"], rtol=0, atol=1e-6)


def test_arrays_broadcast_and_names_too():
    slip = np.linspace(0, 1, 11)[:, None]
    names = ["dry", "ice", "sand"]
    longitudinal, lateral = tire.vti(names, normal_force=3000, slip=slip, slip_angle=0.1, deflection=0.02)
    assert longitudinal.shape == lateral.shape == (11, 3)
    for i, name in enumerate(names):
        alone, _ = tire.vti(name, normal_force=3000, slip=slip[:, 0], slip_angle=0.1, deflection=0.02)
        np.testing.assert_array_equal(longitudinal[:, i], alone)
    assert tire.vti("dry", normal_force=1.0)[0].shape == ()
    assert tire.vti("dry", normal_force=np.zeros((0, 3)))[0].shape == (0, 3)


def test_step_of_the_default_model():
    wheel = {"dt": 0.005, "mass": 11.5, "load": 11.5 * 9.81, "radius": 0.2, "inertia": 0.08}
    out = tire.step("default", {"C_damping": 0}, torque=[5, 30], **wheel)
    np.testing.assert_allclose(out.longitudinal, [25, 90.252], atol=1e-9)
    np.testing.assert_allclose(out.spin, [0, 0.74685], atol=1e-9)
    sliding = tire.step("default", {"mu": [0.1, 0.8]}, velocity=(0, 0.1), **wheel)
    np.testing.assert_allclose(sliding.lateral, [-0.1 * 11.5 * 9.81, -90.252], atol=1e-9)


def world_of(model):
    return f"""<mvsim_world><simul_timestep>0.005</simul_timestep><vehicle name="r"><init_pose>0 0 0</init_pose>
    <init_vel>1 0.2 0</init_vel><dynamics class="differential">
    <l_wheel pos="0 0.3" mass="2" width="0.05" diameter="0.4"/>
    <r_wheel pos="0 -0.3" mass="2" width="0.05" diameter="0.4"/>
    <chassis mass="16"><shape><pt>-.4 -.25</pt><pt>-.4 .25</pt><pt>.4 .25</pt><pt>.4 -.25</pt></shape></chassis>
    </dynamics><friction class="{model}"/></vehicle></mvsim_world>"""


@pytest.mark.parametrize("model", tire.MODELS)
def test_step_is_the_simulation_s(model, tmp_path):
    path = tmp_path / "one.world.xml"
    path.write_text(world_of(model))
    world = World(path)
    robot = world.vehicles["r"]
    robot.set_command(-4.0, -1.0)
    world.step()
    # mass that a force at a wheel moves, the turning of the vehicle included
    turning = 16 * (0.8**2 + 0.5**2) / 12 + 2 * 2 * ((0.4**2 + 0.05**2) / 12 + 0.3**2)
    effective = 10 / (1 + 0.3**2 * 20 / turning)
    expected = tire.step(
        model,
        dt=0.005,
        torque=[4, 1],
        mass=10,
        effective_mass=effective,
        load=98.1,
        velocity=(1, 0.2),
        radius=0.2,
        inertia=2 * 0.4**2 / 8,
        width=0.05,
    )
    wheels = world.wheels("r")
    np.testing.assert_allclose(wheels.spin, expected.spin, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(wheels.force_x, expected.longitudinal, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(wheels.force_y, expected.lateral, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tire.vti("sandy", normal_force=1), "surface: found 'sandy'.*did you mean 'sand'"),
        (lambda: tire.vti(3, normal_force=1), "expected names"),
        (
            lambda: tire.vti("dry", "doc", normal_force=1),
            "form: found 'doc', expected one of corrected, mavs",
        ),
        (lambda: tire.vti("dry", normal_force=-1), "normal_force: found -1, expected values >= 0"),
        (lambda: tire.vti("dry", normal_force=1, slip=[0, 2]), "slip: found values from 0 to 2"),
        (lambda: tire.vti("dry", normal_force=np.nan), "normal_force.*not finite"),
        (lambda: tire.vti("dry", normal_force="much"), "normal_force.*expected numbers"),
        (lambda: tire.vti("clay", normal_force=1, cone_index=0), "cone_index: found 0, expected values > 0"),
        (lambda: tire.vti("dry", normal_force=[1, 2], slip=[0, 0, 0]), r"normal_force \(2,\), .*slip \(3,\)"),
        (lambda: tire.parameters("elipse"), "did you mean 'ellipse'"),
        (lambda: tire.step("default", {"mue": 1}, dt=1, load=1, radius=1, inertia=1), "did you mean 'mu'"),
        (lambda: tire.step("default", {"mu": -1}, dt=1, load=1, radius=1, inertia=1), "mu: found -1"),
        (lambda: tire.step("vti", {"form": "x"}, dt=1, load=1, radius=1, inertia=1), "form: found 'x'"),
        (lambda: tire.step("vti", dt=0, load=1, radius=1, inertia=1), "dt: found 0, expected values > 0"),
        (
            lambda: tire.step("vti", dt=1, load=1, radius=1, inertia=1, velocity=(1, 2, 3)),
            "velocity: found 3",
        ),
        (lambda: tire.step("vti", dt=1, load=1, radius=1, inertia=1, ground_surface="mud"), "ground_surface"),
        (
            lambda: tire.step("vti", dt=1, load=1, radius=1, inertia=1, ground_mu=1),
            "'vti' has no 'mu', expected ground_c_rr or ground_surface or ground_cone_index",
        ),
        (
            lambda: tire.vti("sand", normal_force=1, deflection=[0.1, 0.3], section_height=[[0.2], [0.4]]),
            "deflection: found values from 0.1 to 0.3, expected less than section_height",
        ),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_parameters_are_those_of_the_world_language():
    found = tire.parameters("vti")
    assert found["surface"].choices == tire.SURFACES
    assert found["crossover_angle"].in_degrees
    assert found["crossover_angle"].default == pytest.approx(np.radians(5))
    assert [row.name for row in tire.parameters("default").values()] == ["mu", "C_damping", "C_rr"]


def test_plots_are_drawn_by_one_command(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert main(["tire-plots", "--out", str(tmp_path / "plots")]) == 0
    pictures = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert len(pictures) == 6
    for picture in pictures:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size > 20_000


def test_plots_say_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["tire-plots", "--out", str(tmp_path)]) == 1
    assert "pip install 'mvsim_gym[plot]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_car_s_grip_is_that_of_the_surface():
    for surface, peak in (("dry", 1.0), ("snow", 0.3), ("ice", 0.1)):
        run = skid_pad(friction("vti", surface), max_speed=12.0, seconds=25.0)
        grip = np.max(run.lateral) / 9.81
        assert 0.65 * peak < grip < 1.02 * peak
        slow = (run.speed > 0.3) & (run.speed < 1.5)
        rolling = run.speed[slow] * np.tan(np.radians(12)) / WHEELBASE
        np.testing.assert_allclose(run.yaw_rate[slow], rolling, rtol=0.03)
