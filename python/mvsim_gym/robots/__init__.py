"""Imports robots and worlds: URDF, xacro and SDF to vehicle and world files, floor plans to world files."""

from mvsim_gym.robots.elements import ImportRobotError
from mvsim_gym.robots.importer import ImportedRobot, import_robot
from mvsim_gym.robots.plan import ImportedPlan, import_plan
from mvsim_gym.robots.world_file import ImportedWorld, import_world

__all__ = [
    "ImportRobotError",
    "ImportedPlan",
    "ImportedRobot",
    "ImportedWorld",
    "import_plan",
    "import_robot",
    "import_world",
]
