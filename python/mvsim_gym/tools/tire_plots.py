"""Pictures of the tire models, drawn from the functions of mvsim_gym.tire: `mvsim-gym tire-plots`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mvsim_gym import tire
from mvsim_gym.tools import tire_manoeuvres as manoeuvres

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLORS = {
    "dry": "#1f2933",
    "wet": "#1273b8",
    "snow": "#7c8fa3",
    "ice": "#29b3c6",
    "sand": "#d08b1d",
    "clay": "#9a4a1e",
}
_MODEL_COLORS = {
    "default": "#1273b8",
    "wardiagnemma": "#3f9142",
    "ellipse": "#b8336a",
    "skid": "#b07d12",
    "vti": "#1f2933",
}
_MODEL_LINES = {"wardiagnemma": (0, (4, 4))}  # dashed, since its curve lies on the default one

# The front tire of a light off-road vehicle with a quarter of its weight.
_LOAD = 3000.0  # N
_TIRE: dict[str, Any] = {
    "normal_force": _LOAD,
    "deflection": 0.15 * 0.1651,
    "width": 0.2286,
    "diameter": 0.6604,
    "section_height": 0.1651,
}
_CONE_INDEX = 100 * tire.PSI


def draw_all(folder: str | Path) -> list[Path]:
    """Writes all pictures into `folder` (made if it is missing) as PNG; returns their paths."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ValueError("matplotlib is not installed: pip install 'mvsim_gym[plot]'") from error
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    pictures: dict[str, Callable[[], Figure]] = {
        "tire_surfaces.png": surfaces,
        "tire_models.png": models,
        "tire_combined_slip.png": combined_slip,
        "tire_soil_strength.png": soil_strength,
        "tire_skid_pad.png": skid_pad,
        "tire_step_steer.png": step_steer,
    }
    paths = []
    for name, draw in pictures.items():
        paths.append(target / name)
        draw().savefig(paths[-1], dpi=150)
    return paths


def surfaces() -> Figure:
    """Draws the force of `vti` over slip ratio and slip angle on every surface, corrected and as computed by MAVS."""
    figure, (along, across) = _figure("Tire model vti: force on every surface", columns=2)
    slip = np.linspace(-1, 1, 801)
    angle = np.radians(np.linspace(-30, 30, 601))
    for surface in tire.SURFACES:
        for form, style in (("corrected", "-"), ("mavs", ":")):
            label = surface if form == "corrected" else None
            look = {"color": _COLORS[surface], "ls": style, "lw": 1.8 if label else 1.2, "label": label}
            force, _ = tire.vti(surface, form, slip=slip, cone_index=_CONE_INDEX, motion=1, **_TIRE)
            along.plot(slip, force / _LOAD, **look)
            _, side = tire.vti(surface, form, slip_angle=angle, cone_index=_CONE_INDEX, **_TIRE)
            if form == "corrected":
                across.plot(np.degrees(angle), side / _LOAD, **look)
    _, side = tire.vti("dry", "mavs", slip_angle=angle, **_TIRE)
    across.plot(np.degrees(angle), side / _LOAD, color="#666666", ls=":", lw=1.2)
    along.plot([], [], color="#666666", ls=":", lw=1.2, label='form="mavs"')
    _name(along, "slip ratio", "net longitudinal force / load", "driving and braking, no slip angle")
    _name(across, "slip angle, degrees", "lateral force / load", "cornering, no slip ratio")
    along.legend(loc="upper left", ncols=1)
    across.annotate(
        'dry, clay, and every\nsurface of form="mavs"',
        (8, -0.8),
        (-28, -0.85),
        arrowprops={"arrowstyle": "-", "color": "#888888"},
    )
    figure.supxlabel(
        f"load {_LOAD:.0f} N, tire 0.66 x 0.23 m with 15 % deflection; sand and clay of 100 psi, moving forward",
        fontsize=9,
    )
    return figure


def models() -> Figure:
    """Draws the force of every tire model over slip ratio and slip angle, at its default parameters."""
    figure, (along, across) = _figure("Tire models at their default parameters, 5 m/s", columns=2)
    speed, radius = 5.0, 0.33
    wheel: dict[str, Any] = {"dt": 1e-6, "load": _LOAD, "radius": radius, "inertia": 2.0, "width": 0.23}
    slip = np.linspace(-0.6, 0.6, 601)
    rolling = np.where(slip < 0, speed * (1 + slip), speed / (1 - slip))
    angle = np.radians(np.linspace(-25, 25, 601))
    for model in tire.MODELS:
        # a rigid tire rolls with its full radius
        params = {"stiffness": 1e9} if model == "vti" else {}
        look = _look_of(model)
        driven = tire.step(model, params, velocity=(speed, 0), spin=rolling / radius, **wheel)
        along.plot(slip, driven.longitudinal / _LOAD, **look)
        side = tire.step(model, params, velocity=(speed, speed * np.tan(angle)), spin=speed / radius, **wheel)
        across.plot(np.degrees(angle), side.lateral / _LOAD, **look)
    _name(along, "slip ratio", "longitudinal force / load", "driving and braking, no slip angle")
    _name(across, "slip angle, degrees", "lateral force / load", "cornering, rolling freely")
    along.legend(loc="upper left")
    figure.supxlabel(
        "default and wardiagnemma hold a wheel up to their friction limit: any slip means the limit is reached",
        fontsize=9,
    )
    return figure


def combined_slip() -> Figure:
    """Draws the friction ellipse of `vti`: the lateral force that is left during driving and braking."""
    figure, (dry, wet) = _figure("Tire model vti: combined slip", columns=2, height=3.7)
    slip = np.linspace(-1, 1, 801)
    for axes, surface in ((dry, "dry"), (wet, "wet")):
        for degrees, shade in ((2, 0.75), (4, 0.6), (8, 0.4), (20, 0.0)):
            along, across = tire.vti(surface, slip=slip, slip_angle=-np.radians(degrees), **_TIRE)
            axes.plot(along / _LOAD, across / _LOAD, color=str(shade), lw=1.6, label=f"{degrees}°")
        _name(axes, "longitudinal force / load", "lateral force / load", f"{surface} surface")
        axes.set_aspect("equal")
        axes.set(xlim=(-1.08, 1.08), ylim=(-0.04, 1.08))
    dry.legend(title="slip angle", loc="lower center", ncols=2)
    return figure


def soil_strength() -> Figure:
    """Draws gross traction, motion resistance and net pull over the strength of the soil."""
    figure, panels = _figure("Tire model vti: pull on soil at 20 % slip", columns=2)
    strength = np.linspace(10, 300, 600)
    for axes, soil in zip(panels, ("sand", "clay"), strict=True):
        arguments = {"slip": 0.2, "cone_index": strength * tire.PSI, **_TIRE}
        gross = tire.vti(soil, motion=0, **arguments)[0] / _LOAD
        net = tire.vti(soil, motion=1, **arguments)[0] / _LOAD
        mavs = tire.vti(soil, "mavs", **arguments)[0] / _LOAD
        axes.plot(strength, gross, color="#7c8fa3", lw=1.6, label="gross traction")
        axes.plot(strength, gross - net, color="#b8336a", lw=1.6, label="motion resistance")
        axes.plot(strength, net, color=_COLORS[soil], lw=2.2, label="net pull")
        axes.plot(strength, mavs, color=_COLORS[soil], lw=1.2, ls=":", label='net pull, form="mavs"')
        axes.axhline(0, color="#444444", lw=0.8)
        _name(axes, "cone index, psi", "force / load", soil)
        axes.set_ylim(-1.05, 1.05)
        stuck = strength[net <= 0]
        if stuck.size:
            axes.axvspan(strength[0], stuck[-1], color="#000000", alpha=0.06, lw=0)
            middle = (strength[0] + stuck[-1]) / 2
            axes.text(middle, -0.9, "stuck", ha="center", va="bottom", fontsize=9, rotation=90)
        axes.set_xlim(strength[0], strength[-1])
    panels[0].legend(loc="lower right")
    return figure


def skid_pad() -> Figure:
    """Draws the path of a car that accelerates slowly with a fixed steering angle, on every rigid surface."""
    steer = np.radians(12)
    figure, (grip, path) = _figure("Skid-pad: steering held at 12°, speed rising slowly to 14 m/s", columns=2)
    for surface in ("dry", "wet", "snow", "ice"):
        run = manoeuvres.skid_pad(manoeuvres.friction("vti", surface), steer=float(steer))
        sliding = np.flatnonzero(np.abs(run.sideslip) > np.radians(15))
        end = sliding[0] if sliding.size else len(run.time) - 1
        for axes, x, y in ((grip, run.speed, run.lateral / 9.81), (path, run.x, run.y)):
            axes.plot(x[: end + 1], y[: end + 1], color=_COLORS[surface], lw=1.6, label=surface)
            if sliding.size:
                axes.plot(x[end], y[end], "o", color=_COLORS[surface], ms=5)
    speed = np.linspace(0, 14, 200)
    rolling = speed**2 * np.tan(steer) / manoeuvres.WHEELBASE
    grip.plot(speed, rolling / 9.81, color="#b8336a", ls=":", lw=1.4, label="wheels that roll without slip")
    grip.set(xlim=(0, 14.5), ylim=(-0.02, 1.1))
    _name(grip, "speed, m/s", "lateral acceleration / g", "grip ends where the surface's friction ends")
    _name(path, "x, m", "y, m", "path")
    path.set_aspect("equal", adjustable="datalim")
    grip.legend(loc="upper left")
    figure.supxlabel("dots: the rear axle slides by more than 15°", fontsize=9)
    return figure


def _look_of(model: str) -> dict[str, Any]:
    color, line = _MODEL_COLORS.get(model), _MODEL_LINES.get(model, "-")
    return {"color": color, "lw": 1.8, "label": model, "ls": line}


def step_steer() -> Figure:
    """Draws the yaw rate after a steering step of a car at 10 m/s: for every tire model, then for every surface."""
    speed, steer = 10.0, np.radians(4)
    figure, (models_axes, surfaces_axes) = _figure("Step steer: 4° at once at 10 m/s", columns=2)
    for model in tire.MODELS:
        run = manoeuvres.step_steer(manoeuvres.friction(model), speed=speed, steer=float(steer))
        look = _look_of(model)
        models_axes.plot(run.time, np.degrees(run.yaw_rate), **look)
    for surface in ("dry", "wet", "snow", "ice"):
        run = manoeuvres.step_steer(manoeuvres.friction("vti", surface), speed=speed, steer=float(steer))
        surfaces_axes.plot(
            run.time, np.degrees(run.yaw_rate), color=_COLORS[surface], lw=1.8, label=f"vti, {surface}"
        )
    rolling = np.degrees(speed * np.tan(steer) / manoeuvres.WHEELBASE)
    for axes, title in ((models_axes, "tire models, dry ground"), (surfaces_axes, "surfaces of vti")):
        axes.axhline(rolling, color="#888888", ls=":", lw=1.2, label="wheels that roll without slip")
        _name(axes, "time, s", "yaw rate, degrees/s", title)
        axes.set_ylim(bottom=0)
        axes.legend(loc="lower right")
    return figure


def _figure(title: str, columns: int, height: float = 4.6) -> tuple[Figure, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6 * columns, height), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=13, fontweight="bold")
    return figure, figure.subplots(1, columns)


def _name(axes: Axes, x: str, y: str, title: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, fontsize=10)
    axes.grid(color="#dddddd", lw=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
