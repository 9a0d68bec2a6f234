"""From a run and the description of a GPU to the time that it takes, and the least that it could take."""

from warplens.model.bounds.bound import Bound, LeastTime
from warplens.model.bounds.least_time import floor
from warplens.model.result.prediction import WHAT_IF, Prediction

__all__ = ["WHAT_IF", "Bound", "LeastTime", "Prediction", "floor"]
