"""Robots from their descriptions: URDF, xacro and SDF to vehicle files."""

from mvsim_gym.robots.elements import ImportRobotError
from mvsim_gym.robots.importer import ImportedRobot, import_robot

__all__ = ["ImportRobotError", "ImportedRobot", "import_robot"]
