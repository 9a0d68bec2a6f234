"""Definitions of metrics: name, unit, provenance and one sentence each; definitions.toml has the sentences."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product

from warplens.core.metric import Provenance
from warplens.counters.metric_collection import all_formulas

CHOICE = re.compile(r"\{([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Definition:
    """A metric of some architecture.  predicted: only a prediction has it;  provenance: of a run of the whole grid."""

    name: str
    unit: str
    provenance: Provenance
    predicted: bool
    means: str


@cache
def definitions() -> tuple[Definition, ...]:
    """Of every metric, in order of their names."""
    tables = tomllib.loads(files("warplens.report").joinpath("definitions.toml").read_text("utf-8"))
    formulas = {formula.name: formula for formula in all_formulas()}
    found = []
    for pattern, means in tables["counted"].items():
        for name, sentence in spelled_out(pattern, means):
            formula = formulas[name]
            found.append(Definition(name, formula.unit, formula.provenance, False, sentence))
    for table in ("mix", "launch", "predicted"):
        predicted = table == "predicted"
        for pattern, said in tables[table].items():
            for name, sentence in spelled_out(pattern, said["means"]):
                kind: Provenance = "modelled" if predicted else "exact"
                found.append(Definition(name, said["unit"], kind, predicted, sentence))
    return tuple(sorted(found, key=lambda definition: definition.name))


def spelled_out(name: str, sentence: str) -> Iterator[tuple[str, str]]:
    """ "op_{ld,st}", "{Loads,Stores}" as ("op_ld", "Loads"), ("op_st", "Stores")."""
    names, words = ([choice.split(",") for choice in CHOICE.findall(text)] for text in (name, sentence))
    for places in product(*(range(len(choices)) for choices in names)):
        made = []
        for text, choices in ((name, names), (sentence, words)):
            chosen = iter([choice[place] for choice, place in zip(choices, places, strict=False)])
            made.append(CHOICE.sub(lambda _, chosen=chosen: next(chosen), text))  # type: ignore[misc]
        yield made[0], made[1]
