"""Fits the parameters of a robot to its logs: speed, slip, turning and delays, with an interval for each.

    from mvsim_gym.identify import Robot, identify, read_log

    with Robot("my_robot.vehicle.xml") as robot:
        found = identify(robot, [read_log("drive.mcap")])
        print("\\n".join(found.report()))

Needs the extra `identify`; bags and recordings the extra `record`.
"""

from mvsim_gym.identify.identify import Comparison, Fitted, Identified, compare, identify
from mvsim_gym.identify.log import Log, LogError, Stream
from mvsim_gym.identify.measure import allan_deviation, noise_of
from mvsim_gym.identify.parameters import DEFAULTS, PARAMETERS, Parameter
from mvsim_gym.identify.read import read_log
from mvsim_gym.identify.robot import Robot
from mvsim_gym.identify.write import fitted_text, randomize_block

__all__ = [
    "DEFAULTS",
    "PARAMETERS",
    "Comparison",
    "Fitted",
    "Identified",
    "Log",
    "LogError",
    "Parameter",
    "Robot",
    "Stream",
    "allan_deviation",
    "compare",
    "fitted_text",
    "identify",
    "noise_of",
    "randomize_block",
    "read_log",
]
