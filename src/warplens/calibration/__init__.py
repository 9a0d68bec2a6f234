"""How fast the parts of a GPU are: micro-benchmarks by subject, their record, and the tables that follow from it.  F5.

Nothing here is validated on, and no kernel of benchmarks/validation is here.
"""

from warplens.calibration.trial import Buffer, Trial, source_of, subjects, trials

__all__ = ["Buffer", "Trial", "source_of", "subjects", "trials"]
