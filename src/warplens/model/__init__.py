"""From counts and the description of a GPU to the least time that a launch can take.  F5."""

from warplens.model.bound import Bound, Floor
from warplens.model.floor import floor

__all__ = ["Bound", "Floor", "floor"]
