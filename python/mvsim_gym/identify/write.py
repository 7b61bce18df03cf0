"""Writes the result of a fit: the vehicle file with new values, and a <randomize> block with the intervals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mvsim_gym.identify.log import LogError
from mvsim_gym.identify.parameters import parameter
from mvsim_gym.identify.robot import Robot

_EFFECTIVE = ("wheel_radius", "track")
"""Fitted parameters that are not written as geometry, because controller and odometry of the real robot use their
nominal values."""


def fitted_text(robot: Robot, values: Mapping[str, float], comment: Sequence[str]) -> str:
    """Returns the text of the vehicle file with fitted values, and lines of comment at its top.

    Values that the file gives as `${name|default}` are replaced as a whole.

    Raises:
        LogError: the class has no element for a value.
    """
    text = robot.text
    name = robot.class_name or ""
    begin = re.search(rf"""<vehicle:class\b[^>]*\bname\s*=\s*["']{re.escape(name)}["']""", text)
    end = text.find("</vehicle:class>", begin.end() if begin else 0)
    if begin is None or end < 0:
        raise LogError(f"{robot.path}: found no whole <vehicle:class name='{name}'>")
    body = text[begin.start() : end]
    for key, value in values.items():
        row = parameter(key)
        if row.tag:
            body = _with_tag(robot, body, row.tag, f"{value * row.factor:.6g}", key)
    text = text[: begin.start()] + body + text[end:]
    lines = "\n".join(f"  {line}" for line in comment).replace("--", "- -")
    head = f"<!--\n{lines}\n-->\n"
    declaration = re.match(r"\s*<\?xml[^>]*\?>\s*", text)
    at = declaration.end() if declaration else 0
    return text[:at] + head + text[at:]


def _with_tag(robot: Robot, body: str, tag: str, value: str, key: str) -> str:
    # comments become blanks of the same length
    masked = re.sub(r"<!--.*?-->", lambda found: " " * len(found[0]), body, flags=re.DOTALL)
    if "@" in tag:
        element, attribute = tag.split("@")
        found = re.search(rf"<{element}\b[^>]*?(/?)>", masked)
        if found is None:
            return _inserted(robot, body, masked, "dynamics", f'<{element} {attribute}="{value}"/>', key)
        inside = body[found.start() : found.end()]
        own = re.search(rf"""(\b{attribute}\s*=\s*)(["'])(.*?)\2""", inside)
        if own is not None:
            changed = inside[: own.start()] + f'{own[1]}"{value}"' + inside[own.end() :]
            return body[: found.start()] + changed + body[found.end() :]
        child = None
        if not found[1]:
            close = masked.find(f"</{element}>", found.end())
            child = re.compile(rf"<{attribute}\b[^>]*>(.*?)</{attribute}>", re.DOTALL).search(
                masked, found.end(), close
            )
        if child is not None:
            return body[: child.start(1)] + value + body[child.end(1) :]
        at = found.start() + 1 + len(element)
        return body[:at] + f' {attribute}="{value}"' + body[at:]
    element, name = tag.split("/")
    found = re.search(rf"<{element}\b[^>]*?(/?)>", masked)
    if found is None:
        if element != "friction":
            raise LogError(f"{robot.path}: found no <{element}>, expected one that can say {key}")
        return body + f'  <friction class="default"> <{name}>{value}</{name}> </friction>\n'
    if found[1]:
        opened = body[found.start() : found.end()][:-2].rstrip()
        return (
            body[: found.start()] + f"{opened}> <{name}>{value}</{name}> </{element}>" + body[found.end() :]
        )
    close = masked.find(f"</{element}>", found.end())
    child = re.compile(rf"<{name}\b[^>]*>(.*?)</{name}>", re.DOTALL).search(masked, found.end(), close)
    if child is not None:
        return body[: child.start(1)] + value + body[child.end(1) :]
    return body[:close] + f" <{name}>{value}</{name}> " + body[close:]


def _inserted(robot: Robot, body: str, masked: str, parent: str, text: str, key: str) -> str:
    close = masked.find(f"</{parent}>")
    if close < 0:
        raise LogError(f"{robot.path}: found no <{parent}>, expected one that can say {key}")
    return body[:close] + f"  {text}\n  " + body[close:]


def randomize_block(
    robot: Robot, intervals: Mapping[str, tuple[float, float, float]], vehicle: str = "robot"
) -> str:
    """Returns the <randomize> elements of an environment file with the intervals as ranges.

    Args:
        intervals: the value, the low and the high end for each parameter.
        vehicle: name of the vehicle in the environment file.
    """
    lines = ["<!-- ranges from mvsim-gym identify: 95 % intervals of the fitted parameters -->"]
    for name, (_, low, high) in intervals.items():
        row = parameter(name)
        if name == "delay":
            ends = f"{max(low, 0):.4g}, {max(high, 0):.4g}"
            lines.append(f'<randomize of="vehicle:{vehicle}/action/delay" value="uniform({ends})"/>')
        elif row.target == "world":
            nominal = robot.nominal(row)
            assert nominal is not None
            if name in _EFFECTIVE:
                path = row.pattern
                kind, a, b = "scale", low / nominal, high / nominal
                if name == "track":
                    kind = "value"
                lines.append(f'<randomize of="vehicle:{vehicle}/{path}" {kind}="uniform({a:.6g}, {b:.6g})"/>')
            else:
                lines.append(
                    f'<randomize of="vehicle:{vehicle}/{row.pattern}" value="uniform({low:.6g}, {high:.6g})"/>'
                )
    return "\n".join(lines) + "\n"
