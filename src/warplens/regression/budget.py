"""Budget: a condition on a kernel's counts, such as "smsp__inst_executed.sum <= 1.02 * baseline".

    condition   sum (<= | >= | == | != | < | >) sum
    sum         product {(+ | -) product}
    product     factor {(* | /) factor}
    factor      - factor | ( sum ) | NUMBER [UNIT] | NAME | sass("OPCODE") | baseline

NAME is a metric of Nsight Compute or nvprof, or `spills`; `baseline` is the other side of the condition, in the
baseline; sass("LDG.E.128") counts instructions in the machine code that have this opcode and at least these modifiers.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from warplens.errors import UsageError
from warplens.regression import unit as units
from warplens.regression.nvprof_names import EXPRESSIONS

COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": lambda a, b: a / b if b else 0.0,
}  # fmt: skip
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)(?:\s*(?P<unit>%|[A-Za-zµμ]+(?:/[A-Za-z]+)?))?"
    r"|(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)|(?P<string>\"[^\"]*\"|'[^']*')"
    r"|(?P<comparison><=|>=|==|!=|<|>)|(?P<sign>[-+*/()]))"
)
BASELINE, SPILLS, SASS = "baseline", "spills", "sass"
LONGEST = 1000  # characters: nesting stays within Python's limit
Values = Mapping[str, float]


@dataclass(frozen=True)
class Vocabulary:
    """Names that budgets may use: unit by name of metric; predicted: those that only a prediction has."""

    units: Mapping[str, str]
    predicted: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Expression:
    """Arithmetic on counts; names: what it reads;  of: its value, given these;  relative: `baseline` stands in it."""

    unit: str
    names: frozenset[str]
    of: Callable[[Values, float], float]
    relative: bool = False


@dataclass(frozen=True)
class CountBudget:
    """A condition on counts.

    text      as it is written;  names: metrics (Nsight Compute's), "spills" and 'sass("...")' that it reads
    relative  whether it needs a baseline;  predicted: whether it needs a prediction
    """

    text: str
    comparison: str
    left: Expression = field(compare=False)
    right: Expression = field(compare=False)
    predicted: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self.left.names | self.right.names))

    @property
    def relative(self) -> bool:
        return self.left.relative or self.right.relative

    @property
    def unit(self) -> str:
        return units.common(self.left.unit, self.right.unit) or ""

    @property
    def measured(self) -> Expression:
        """The side that is bounded by the other."""
        return self.right if self.left.relative or not self.left.names else self.left

    @property
    def upward(self) -> bool:
        """Whether larger values are better."""
        return (self.comparison in (">", ">=")) == (self.measured is self.left)

    def measured_and_bound(self, counts: Values, before: Values | None) -> tuple[float, float]:
        """Both sides as numbers; `before` are the counts of the baseline."""
        value = self.measured.of(counts, 0.0)
        other = self.left if self.measured is self.right else self.right
        return value, other.of(counts, self.measured.of(before, 0.0) if other.relative and before else 0.0)

    def held(self, counts: Values, before: Values | None) -> bool:
        value, bound = self.measured_and_bound(counts, before)
        left, right = (value, bound) if self.measured is self.left else (bound, value)
        return COMPARISONS[self.comparison](left, right)


def parse_budget(text: str, vocabulary: Vocabulary) -> CountBudget:
    """UsageError where it is no condition, names no metric, or compares what has different units."""
    return _Parser(text, vocabulary).budget()


def sass_opcode(name: str) -> str | None:
    """LDG.E.128 of the name 'sass("LDG.E.128")'; None for another name."""
    found = re.fullmatch(r'sass\("(.*)"\)', name)
    return found[1] if found else None


class _Parser:
    """Recursive descent, one method a rule."""

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        self.text, self.vocabulary = text.strip(), vocabulary
        if len(text) > LONGEST:
            raise UsageError(f"budget {text[:40]!r}...: it has {len(text)} characters; at most {LONGEST} are possible")
        self.tokens = [*self._tokens(), ("end", "", "")]
        self.place = 0

    def budget(self) -> CountBudget:
        left = self._sum()
        kind, comparison, _ = self._next()
        if kind != "comparison":
            self._refuse(f"a comparison is missing, one of {' '.join(COMPARISONS)}")
        right = self._sum()
        if self._peek()[0] != "end":
            self._refuse(f"{self._peek()[1]!r} follows the condition; write one comparison a budget")
        if units.common(left.unit, right.unit) is None:
            self._refuse(f"the left side is in {left.unit}, the right side in {right.unit}")
        if not left.names | right.names:
            self._refuse("no metric stands in it")
        if left.relative and right.relative:
            self._refuse("`baseline` is the other side in the baseline, so it can stand on one side only")
        predicted = bool((left.names | right.names) & self.vocabulary.predicted)
        return CountBudget(self.text, comparison, left, right, predicted)

    def _tokens(self) -> Iterator[tuple[str, str, str]]:
        place = 0
        while place < len(self.text):
            found = TOKEN.match(self.text, place)
            if found is None or found.lastgroup is None:
                self._refuse(f"{self.text[place:].split()[0]!r} cannot stand in a budget")
            kind = "number" if found["number"] else found.lastgroup
            yield kind, found[kind], found["unit"] or ""
            place = found.end()

    def _peek(self) -> tuple[str, str, str]:
        return self.tokens[self.place]

    def _next(self) -> tuple[str, str, str]:
        self.place += 1
        return self.tokens[self.place - 1]

    def _sum(self) -> Expression:
        made = self._product()
        while self._peek()[1] in ("+", "-"):
            sign, right = self._next()[1], self._product()
            unit = units.common(made.unit, right.unit)
            if unit is None:
                self._refuse(f"{made.unit} and {right.unit} cannot be added")
            made = _binary(sign, made, right, unit)
        return made

    def _product(self) -> Expression:
        made = self._factor()
        while self._peek()[1] in ("*", "/"):
            sign, right = self._next()[1], self._factor()
            unit = (units.product if sign == "*" else units.quotient)(made.unit, right.unit)
            made = _binary(sign, made, right, unit)
        return made

    def _factor(self) -> Expression:
        kind, text, unit = self._next()
        if text == "-":
            made = self._factor()
            return _binary("-", Expression(units.PLAIN, frozenset(), lambda *_: 0.0), made, made.unit)
        if text == "(":
            made = self._sum()
            self._expect(")")
            return made
        if kind == "number":
            return self._number(float(text), unit)
        if kind != "name":
            self._refuse(f"a number or a metric is missing{f' before {text!r}' if text else ' at the end'}")
        if text == SASS:
            return self._sass()
        if text == BASELINE:
            return Expression(units.PLAIN, frozenset(), lambda _, before: before, True)
        return self._metric(text)

    def _number(self, number: float, unit: str) -> Expression:
        if unit:
            try:
                number, unit = units.scaled(number, unit)
            except UsageError as error:
                self._refuse(str(error))
        return Expression(unit, frozenset(), lambda *_: number)

    def _sass(self) -> Expression:
        self._expect("(")
        kind, text, _ = self._next()
        if kind != "string" or not re.fullmatch(r"[A-Z][A-Z0-9_]*(\.\w+)*", text[1:-1]):
            self._refuse('sass() takes an opcode in quotes, such as sass("LDG.E.128")')
        self._expect(")")
        return _counted(f'sass("{text[1:-1]}")', units.PLAIN)

    def _metric(self, name: str) -> Expression:
        if name in EXPRESSIONS:
            inner = _Parser(EXPRESSIONS[name], self.vocabulary)
            return inner._sum()
        if name == SPILLS:
            return _counted(name, units.PLAIN)
        if name not in self.vocabulary.units:
            known = [*self.vocabulary.units, *EXPRESSIONS, SPILLS]
            made = sorted((other for other in known if other.startswith(f"{name}.")), key=len)
            close = made[:3] or difflib.get_close_matches(name, known, 3, 0.6)
            hint = f"did you mean {', '.join(close)}?" if close else "`warplens metrics` lists all"
            self._refuse(f"no metric {name!r} is known; {hint}")
        return _counted(name, self.vocabulary.units[name])

    def _expect(self, sign: str) -> None:
        if self._next()[1] != sign:
            self._refuse(f"{sign!r} is missing")

    def _refuse(self, reason: str) -> NoReturn:
        raise UsageError(f"budget {self.text!r}: {reason}")


def _counted(name: str, unit: str) -> Expression:
    return Expression(unit, frozenset({name}), lambda counts, _: counts[name])


def _binary(sign: str, left: Expression, right: Expression, unit: str) -> Expression:
    work = ARITHMETIC[sign]
    return Expression(
        unit,
        left.names | right.names,
        lambda counts, before: work(left.of(counts, before), right.of(counts, before)),
        left.relative or right.relative,
    )
