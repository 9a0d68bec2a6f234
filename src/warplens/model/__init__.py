"""Time model: from a run and a GPU description to the predicted time and its lower bound."""

from warplens.model.bounds.bound import Bound, LeastTime
from warplens.model.bounds.least_time import floor
from warplens.model.result.prediction import WHAT_IF, Prediction

__all__ = ["WHAT_IF", "Bound", "LeastTime", "Prediction", "floor"]
