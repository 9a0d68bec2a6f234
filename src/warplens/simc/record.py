"""Mutable record: floats under field names that compiled code reads and writes in place."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray


class Record:
    """Base of classes whose annotated fields are floats, kept in one array: `class Port(Record): free: float`.

    A compiled function takes a record as a pointer to its array: `port.free += 1.0` is one load and one store.
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    values: NDArray[np.float64]

    def __init_subclass__(cls) -> None:
        cls._fields = (*cls._fields, *(name for name in cls.__annotations__ if not name.startswith("_")))
        for at, name in enumerate(cls._fields):
            setattr(cls, name, _field(at))

    def __init__(self, values: NDArray[np.float64] | None = None) -> None:
        """All fields are 0, unless their values are given in the order of the fields."""
        self.values = np.zeros(len(self._fields)) if values is None else np.array(values, np.float64)

    @classmethod
    def mean(cls, records: list[Self]) -> Self:
        """The average of each field."""
        return cls(np.mean([record.values for record in records], axis=0))


def _field(at: int) -> Any:
    def get(self: Record) -> float:
        return float(self.values[at])

    def put(self: Record, value: float) -> None:
        self.values[at] = value

    return property(get, put)
