"""Calibration: micro-benchmarks by subject, their record, and the machine tables derived from it.

Nothing here is validated on, and no kernel of tests/validation is here.
"""

from warplens.calibration.trial import Buffer, Trial, source_of, subjects, trials

__all__ = ["Buffer", "Trial", "source_of", "subjects", "trials"]
