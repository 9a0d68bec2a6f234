"""The factors of two times side by side: a table, and a part of the JSON document."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from warplens.model.result.factors import Class, Decomposition, Factors, factors
from warplens.report.launch_view import LaunchView
from warplens.report.prediction_view import digits, provenance, spoken
from warplens.report.terminal.console_layout import grid_of, short, titled
from warplens.report.wording import category_name

NO_PREDICTION = "needs a prediction: --gpu NAME"
Row = tuple[str, str, str, float | None]


def of(first: LaunchView, second: LaunchView) -> Decomposition | None:
    """None where one of the two has no prediction, or they are on different GPUs."""
    if first.prediction is None or second.prediction is None or first.machine != second.machine:
        return None
    return Decomposition(
        factors(first.program, first.trace, first.machine, first.prediction),
        factors(second.program, second.trace, second.machine, second.prediction),
    )


def sentence(found: Decomposition, first: str, second: str, gpu: str) -> str:
    """ "nccopy takes 1.01 times as long as ccopy on the NVIDIA H200 SXM: 83.6 µs and 83.0 µs (modelled)"."""
    times = f"{spoken(found.second.time_us)} and {spoken(found.first.time_us)}"
    longer = "" if abs(found.time - 1) < 0.005 else f"{found.time:.3g} times "
    return f"{second} takes {longer}as long as {first} on the {gpu}: {times} (modelled)"


def show(found: Decomposition, names: tuple[str, str], subject: LaunchView) -> RenderableType:
    """The factors, and that they multiply out."""
    table = grid_of("", *names, "Ratio")
    for name, one, other, ratio in rows(found):
        table.add_row(name, one, other, "" if ratio is None else f"× {ratio:.4g}")
    prediction = subject.prediction
    kind = provenance(prediction) if prediction else "modelled"
    return titled("Decomposition", kind, Group(table, Padding(Text(identity(found), "dim"), (0, 0, 0, 2))))


def rows(found: Decomposition) -> Iterator[Row]:
    yield row(found, "Time", lambda f: f.time_us, spoken)
    yield row(found, "= Warp cycles per executed instruction", lambda f: f.cycles, digits)
    yield row(found, "× Executed instructions", lambda f: f.instructions, whole)
    yield row(found, "/ Achieved occupancy, %", lambda f: f.occupancy, digits)
    yield row(found, "× Elapsed over active cycles", lambda f: f.outside, lambda amount: f"{amount:.3f}")
    for place in range(len(found.first.classes)):
        yield from class_rows(found, place)


def class_rows(found: Decomposition, place: int) -> Iterator[Row]:
    """How many instructions of a class, and the cycles of each."""

    def of_class(f: Factors) -> Class:
        return f.classes[place]

    name = category_name(found.first.classes[place].name).capitalize()
    yield row(found, name, lambda f: of_class(f).instructions, whole)
    yield row(found, "  warp cycles each", lambda f: of_class(f).cycles, digits)
    yield row(found, "  of all warp cycles, %", lambda f: 100 * of_class(f).warp_cycles / warp_cycles(f), digits)


def row(found: Decomposition, name: str, of: Callable[[Factors], float], say: Callable[[float], str]) -> Row:
    one, other = of(found.first), of(found.second)
    return name, say(one), say(other), other / one if one else None


def whole(amount: float) -> str:
    return short(int(amount))


def warp_cycles(factors: Factors) -> float:
    return sum(found.warp_cycles for found in factors.classes) or 1.0


def identity(found: Decomposition) -> str:
    """ "0.61 × 2.69 / 1.1 × 1.01 = 1.49: it multiplies out"."""
    parts = [
        found.ratio(lambda f: f.cycles), found.ratio(lambda f: f.instructions), found.ratio(lambda f: f.occupancy),
        found.ratio(lambda f: f.outside),
    ]  # fmt: skip
    formula = "{:.4g} × {:.4g} / {:.4g} × {:.4g} = ".format(*parts) + f"{found.product:.4g}"
    if found.multiplies_out:
        return formula + ": the ratio of the times"
    return formula + f", but the ratio of the times is {found.time:.4g}: the model contradicts itself, please report it"


def document(found: Decomposition | None) -> dict[str, Any] | None:
    """The factors of both and their ratios."""
    if found is None:
        return None
    return {
        "provenance": "modelled",
        "first": factors_part(found.first),
        "second": factors_part(found.second),
        "time": found.time,
        "product": found.product,
    }


def factors_part(found: Factors) -> dict[str, Any]:
    return {
        "time_us": found.time_us,
        "warp_cycles_per_executed_instruction": found.cycles,
        "executed_instructions": found.instructions,
        "achieved_occupancy_percent": found.occupancy,
        "elapsed_over_active": found.outside,
        "classes": [
            {"name": one.name, "instructions": one.instructions, "warp_cycles_each": one.cycles}
            for one in found.classes
        ],
    }
