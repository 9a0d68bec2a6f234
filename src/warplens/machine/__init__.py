"""The GPUs that warplens knows: one TOML file a GPU, one an architecture.  F2."""

from warplens.machine.catalog import machine, machines
from warplens.machine.choose import choose, fitting, same_code
from warplens.machine.detect import detect
from warplens.machine.schema import Limits, Machine
from warplens.machine.speeds import Speeds

__all__ = ["Limits", "Machine", "Speeds", "choose", "detect", "fitting", "machine", "machines", "same_code"]
