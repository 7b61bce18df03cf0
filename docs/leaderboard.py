"""Rows of docs/leaderboard.md, each made of results of `mvsim-gym evaluate ID --suite -o FILE.json`, and their table.

    python docs/leaderboard.py a.json b.json c.json --method "PPO, recipe of the package" --link https://...

Each file is one policy, such as that of one training seed. The row goes into benchmarks/leaderboard/, and `./dev docs`
writes the table.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from mvsim_gym.registration import listing
from mvsim_gym.tools.suite import suite_of, wilson

ROOT = Path(__file__).resolve().parent.parent
ROWS = ROOT / "benchmarks" / "leaderboard"
HEADS = ("environment", "method", "success", "95 % interval", "IQM", "policies", "time (s)", "return", "of")

Row = dict[str, Any]


def interquartile_mean(values: list[float]) -> float:
    """Returns the mean of the middle half of the values; those at its ends count by the part that lies in it."""
    values, count = sorted(values), len(values)
    low, high = count / 4, 3 * count / 4
    weights = [max(min(i + 1, high) - max(i, low), 0.0) for i in range(count)]
    return sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)


def env_hash(env: str) -> str:
    """Returns the SHA-256 of the environment file of an id."""
    return hashlib.sha256(Path(listing()[env]).read_bytes()).hexdigest()


def row_of(results: list[Row], method: str, link: str) -> Row:
    """Returns the row of results of `evaluate --suite`, each of one policy.

    Raises:
        ValueError: a result is of another environment, of another version, or of other episodes than the suite.
    """
    first = results[0]
    for result in results:
        for key in ("env", "env_sha256", "version"):
            if result[key] != first[key]:
                raise ValueError(
                    f"found {key} {result[key]} and {first[key]}, expected the same in all files"
                )
        if len(result["episodes"]) % _count(result["env"]):
            raise ValueError(
                f"found {len(result['episodes'])} episodes of {result['env']}, expected the {_count(result['env'])}"
                " of its suite"
            )
    return {
        "env": first["env"],
        "env_sha256": first["env_sha256"],
        "version": first["version"],
        "method": method,
        "link": link,
        "settings": first["settings"],
        "policies": [
            {
                "success": "".join(str(int(row["success"])) for row in result["episodes"]),
                "time": result["summary"]["time"],
                "return": result["summary"]["return"],
                "ends": result["summary"]["ends"],
            }
            for result in results
        ],
    }


def _count(env: str) -> int:
    return sum(part.episodes for part in suite_of(env))


def checked(row: Row, shown: str) -> Row:
    """Returns a row. Raises ValueError if it lacks something, or is of an unknown environment or of other episodes."""
    needed = {"env", "env_sha256", "version", "method", "link", "settings", "policies"}
    if not isinstance(row, dict) or not needed <= row.keys():
        raise ValueError(f"{shown}: expected the keys {', '.join(sorted(needed))}")
    if row["env"] not in listing():
        raise ValueError(f"{shown}: found the environment {row['env']}, expected one of the package")
    for policy in row["policies"]:
        ends = policy["success"]
        if not re.fullmatch("[01]+", ends) or len(ends) % _count(row["env"]):
            raise ValueError(f"{shown}: expected a 0 or 1 for each of the {_count(row['env'])} episodes")
        rate = ends.count("1") / len(ends)
        if abs(rate - policy["ends"].get("success", 0)) > 1e-9:
            raise ValueError(
                f"{shown}: found success {policy['ends'].get('success', 0)}, expected {rate} of its episodes"
            )
    return row


def rows() -> list[Row]:
    """Returns all rows, by environment and success."""
    found = [checked(json.loads(path.read_text()), path.name) for path in sorted(ROWS.glob("*.json"))]
    return sorted(found, key=lambda row: (row["env"], -interquartile_mean(rates(row)), row["method"]))


def rates(row: Row) -> list[float]:
    return [policy["success"].count("1") / len(policy["success"]) for policy in row["policies"]]


def cells(row: Row) -> list[str]:
    """Returns the cells of a row of the table."""
    ends = "".join(policy["success"] for policy in row["policies"])
    low, high = wilson(ends.count("1"), len(ends))
    times = [policy["time"] for policy in row["policies"] if policy["time"] is not None]
    returns = [policy["return"] for policy in row["policies"]]
    method = f"[{row['method']}]({row['link']})" if row["link"] else row["method"]
    current = row["env_sha256"] == env_hash(row["env"])
    return [
        f"`{row['env']}`",
        method,
        f"{100 * ends.count('1') / len(ends):.1f} %",
        f"{100 * low:.1f} to {100 * high:.1f} %",
        f"{100 * interquartile_mean(rates(row)):.1f} %" if len(row["policies"]) > 1 else "-",
        str(len(row["policies"])),
        f"{sum(times) / len(times):.1f}" if times else "-",
        f"{sum(returns) / len(returns):.2f}",
        f"{row['version']}, `{row['env_sha256'][:8]}`" + ("" if current else ", an older file"),
    ]


def table() -> str:
    rule = "|".join("---" if head in ("environment", "method", "of") else "---:" for head in HEADS)
    return "\n".join(
        [f"| {' | '.join(line)} |" for line in (HEADS,)]
        + [f"|{rule}|"]
        + [f"| {' | '.join(cells(row))} |" for row in rows()]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.json", help="of evaluate --suite -o")
    parser.add_argument("--method", required=True, help="what drives, in a few words")
    parser.add_argument("--link", default="", metavar="URL", help="where the policy and its code are")
    args = parser.parse_args()
    if re.search(r"[|\[\]\n]", args.method) or (
        args.link and not re.fullmatch(r"https://[^\s()|]+", args.link)
    ):
        parser.error("--method, --link: expected plain text, and an address that begins with https://")
    row = row_of([json.loads(path.read_text()) for path in args.files], args.method, args.link)
    stem = f"{row['env'].partition('/')[2]}.{re.sub(r'[^a-z0-9]+', '-', args.method.lower()).strip('-')}"
    ROWS.mkdir(exist_ok=True)
    (ROWS / f"{stem}.json").write_text(json.dumps(checked(row, stem), indent=1, sort_keys=True) + "\n")
    print(f"written: benchmarks/leaderboard/{stem}.json; ./dev docs writes the table")


if __name__ == "__main__":
    main()
