"""Evaluates expressions of xacro without Python's eval: numbers, texts, lists, dictionaries and some pure functions.

The text is parsed by Python's own `ast`. Only the kinds of node named here are evaluated. The total work and the size
of every value are bounded, so that no expression can hang or fill the memory.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from mvsim_gym.robots.elements import ImportRobotError, near

_MAX_TEXT = 2_000  # characters of an expression
_MAX_SIZE = 100_000  # characters or items of a value
_MAX_WORK = 5_000_000  # nodes and items of all expressions of one import


class ExpressionError(ValueError):
    """An expression that cannot be evaluated. The caller adds the place."""


class Budget:
    """A bound on the total work of all expressions of one import."""

    def __init__(self) -> None:
        self._left = _MAX_WORK

    def spend(self, work: int) -> None:
        """Counts work.

        Raises:
            ExpressionError: the budget is spent.
        """
        self._left -= work
        if self._left < 0:
            raise ExpressionError(f"more than {_MAX_WORK} operations in all expressions")


class Namespace:
    """A module-like value: `math.pi`, `xacro.load_yaml`."""

    def __init__(self, name: str, members: Mapping[str, Any]) -> None:
        self.name, self.members = name, members


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.Is: lambda a, b: a is b,
    ast.IsNot: lambda a, b: a is not b,
}
_TEXT_METHODS = frozenset(
    {"lower", "upper", "strip", "lstrip", "rstrip", "startswith", "endswith", "split", "title"}
)
_DICT_METHODS = frozenset({"get", "keys", "values", "items"})


def _bounded_range(*arguments: int) -> list[int]:
    found = range(*arguments)
    if len(found) > _MAX_SIZE:
        raise ExpressionError(f"range of {len(found)} items, expected at most {_MAX_SIZE}")
    return list(found)


def _bounded_round(value: float, digits: int = 0) -> float:
    if abs(digits) > 300:
        raise ExpressionError(f"round to {digits} digits, expected at most 300")
    return round(value, digits) if digits else round(value)


_MATH = {
    name: getattr(math, name)
    for name in [
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "ceil",
        "copysign",
        "cos",
        "cosh",
        "degrees",
        "e",
        "exp",
        "fabs",
        "floor",
        "fmod",
        "hypot",
        "inf",
        "isfinite",
        "isinf",
        "isnan",
        "log",
        "log10",
        "log2",
        "modf",
        "nan",
        "pi",
        "pow",
        "radians",
        "sin",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
        "tau",
        "trunc",
    ]
}
_BUILTINS: dict[str, Any] = {
    "abs": abs,
    "all": all,
    "any": any,
    "bool": bool,
    "chr": chr,
    "dict": dict,
    "enumerate": lambda items: list(enumerate(items)),
    "float": float,
    "int": int,
    "len": len,
    "list": list,
    "max": max,
    "min": min,
    "ord": ord,
    "range": _bounded_range,
    "round": _bounded_round,
    "sorted": sorted,
    "str": str,
    "sum": sum,
    "tuple": tuple,
    "zip": lambda *items: list(zip(*items, strict=False)),
}
STANDARD: dict[str, Any] = {
    **_BUILTINS,
    **_MATH,
    "math": Namespace("math", _MATH),
    "python": Namespace("python", _BUILTINS),
    "True": True,
    "False": False,
    "true": True,
    "false": False,
    "None": None,
}
"""Names that are defined in every expression."""


class _Evaluation:
    def __init__(self, lookup: Callable[[str], Any], budget: Budget) -> None:
        self._lookup, self._budget = lookup, budget

    def value(self, node: ast.AST) -> Any:
        self._budget.spend(1)
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        if handler is None:
            raise ExpressionError(f"found {type(node).__name__}, which is not evaluated here")
        found = handler(node)
        self._budget.spend(size_of(found))
        return found

    def _expression(self, node: ast.Expression) -> Any:
        return self.value(node.body)

    def _constant(self, node: ast.Constant) -> Any:
        return node.value

    def _name(self, node: ast.Name) -> Any:
        return self._lookup(node.id)

    def _tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.value(item) for item in node.elts)

    def _list(self, node: ast.List) -> Any:
        return [self.value(item) for item in node.elts]

    def _dict(self, node: ast.Dict) -> Any:
        if any(key is None for key in node.keys):
            raise ExpressionError("found '**' in a dictionary, which is not evaluated here")
        return {
            self.value(key): self.value(item) for key, item in zip(node.keys, node.values, strict=True) if key
        }

    def _binop(self, node: ast.BinOp) -> Any:
        apply = _BINARY.get(type(node.op))
        if apply is None:
            raise ExpressionError(f"found the operator {type(node.op).__name__}, which is not evaluated here")
        left, right = self.value(node.left), self.value(node.right)
        _check_operands(node.op, left, right)
        return apply(left, right)

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        apply = _UNARY.get(type(node.op))
        if apply is None:
            raise ExpressionError("found '~', which is not evaluated here")
        return apply(self.value(node.operand))

    def _boolop(self, node: ast.BoolOp) -> Any:
        stops_at = isinstance(node.op, ast.Or)
        found: Any = None
        for item in node.values:
            found = self.value(item)
            if bool(found) is stops_at:
                break
        return found

    def _compare(self, node: ast.Compare) -> Any:
        left = self.value(node.left)
        for operation, item in zip(node.ops, node.comparators, strict=True):
            right = self.value(item)
            if not _COMPARE[type(operation)](left, right):
                return False
            left = right
        return True

    def _ifexp(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _subscript(self, node: ast.Subscript) -> Any:
        container = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            parts = (node.slice.lower, node.slice.upper, node.slice.step)
            return container[slice(*(None if part is None else self.value(part) for part in parts))]
        return container[self.value(node.slice)]

    def _attribute(self, node: ast.Attribute) -> Any:
        owner = self.value(node.value)
        if isinstance(owner, Namespace):
            if node.attr in owner.members:
                return owner.members[node.attr]
            raise ExpressionError(
                f"'{owner.name}' has no '{node.attr}'" + near(list(owner.members), node.attr)
            )
        if isinstance(owner, dict) and node.attr in owner:
            return owner[node.attr]
        allowed = (
            _TEXT_METHODS if isinstance(owner, str) else _DICT_METHODS if isinstance(owner, dict) else ()
        )
        if node.attr in allowed:
            method = getattr(owner, node.attr)
            return (lambda: list(method())) if node.attr in ("keys", "values", "items") else method
        raise ExpressionError(f"found '.{node.attr}' of {type(owner).__name__}, which is not evaluated here")

    def _call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        if not callable(function):
            raise ExpressionError(f"'{ast.unparse(node.func)}' is no function")
        if any(isinstance(item, ast.Starred) for item in node.args) or any(
            k.arg is None for k in node.keywords
        ):
            raise ExpressionError("found '*' in a call, which is not evaluated here")
        arguments = [self.value(item) for item in node.args]
        keywords = {str(item.arg): self.value(item.value) for item in node.keywords}
        if (
            function is _BUILTINS["int"]
            and arguments
            and isinstance(arguments[0], str)
            and len(arguments[0]) > 100
        ):
            raise ExpressionError("int() of more than 100 characters")
        return function(*arguments, **keywords)


def _check_operands(operation: ast.operator, left: Any, right: Any) -> None:
    """Refuses operations that would take much time or memory, before they run."""
    if isinstance(operation, ast.Pow):
        if not all(isinstance(item, int | float) and abs(item) <= 1e6 for item in (left, right)):
            raise ExpressionError("'**' of numbers beyond 1e6 is not evaluated here")
        if isinstance(left, int) and isinstance(right, int) and abs(right) > 64:
            raise ExpressionError("'**' with an exponent above 64 is not evaluated here")
    if isinstance(operation, ast.Mult):
        for count, items in ((left, right), (right, left)):
            if (
                isinstance(items, str | list | tuple)
                and isinstance(count, int)
                and count * len(items) > _MAX_SIZE
            ):
                raise ExpressionError(f"a value of more than {_MAX_SIZE} items")
    if isinstance(operation, ast.Mod) and isinstance(left, str):
        raise ExpressionError("'%' of a text is not evaluated here")


def size_of(value: Any) -> int:
    """Returns the number of items in a value, including nested ones, or of characters in a text.

    Raises:
        ExpressionError: there are too many.
    """
    size, stack = 0, [value]
    while stack:
        item = stack.pop()
        if isinstance(item, int) and item.bit_length() > 4096:
            raise ExpressionError("an integer beyond 4096 bits")
        if isinstance(item, str):
            size += len(item)
        elif isinstance(item, list | tuple):
            size += len(item)
            stack.extend(item)
        elif isinstance(item, dict):
            size += 2 * len(item)
            stack.extend(item.keys())
            stack.extend(item.values())
        if size > _MAX_SIZE:
            raise ExpressionError(f"a value of more than {_MAX_SIZE} items")
    return size


def evaluate(text: str, lookup: Callable[[str], Any], budget: Budget) -> Any:
    """Returns the value of an expression. `lookup` returns the values of names and raises ExpressionError for an
    unknown one."""
    if len(text) > _MAX_TEXT:
        raise ExpressionError(f"an expression of {len(text)} characters, expected at most {_MAX_TEXT}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _Evaluation(lookup, budget).value(tree)
    except (ExpressionError, ImportRobotError):  # the second of a property that the expression names
        raise
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"'{text.strip()}' is no expression ({type(error).__name__})") from None
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise ExpressionError(f"'{text.strip()}': {type(error).__name__}: {error}") from None
