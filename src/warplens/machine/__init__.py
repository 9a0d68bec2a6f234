"""Machine descriptions: the GPUs that warplens knows; one TOML file a GPU, one an architecture."""

from warplens.machine.catalog import machine, machines
from warplens.machine.gpu_choice import choose, fitting, same_code
from warplens.machine.local_gpu import detect
from warplens.machine.microarchitecture import Microarchitecture
from warplens.machine.schema import Limits, Machine
from warplens.machine.unit_speeds import Speeds

__all__ = [
    "Limits", "Machine", "Microarchitecture", "Speeds", "choose", "detect", "fitting", "machine", "machines",
    "same_code",
]  # fmt: skip
