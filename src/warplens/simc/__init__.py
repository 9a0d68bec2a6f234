"""@compiled: Python functions over numbers and arrays, compiled to machine code of this host.

Loops over every instruction of a simulation are written in Python and compiled, in a second and kept on disk.
function.py calls the code, from_python.py and expressions.py lower Python to LLVM IR, typed_values.py holds their typed
values; record.py: named floats that a compiled function changes; float_bits.py: words of single-precision floats;
branch_hint.py: conditions that rarely hold.
"""

from warplens.simc.branch_hint import unlikely as unlikely
from warplens.simc.float_bits import bits_float as bits_float
from warplens.simc.float_bits import float_bits as float_bits
from warplens.simc.function import compiled as compiled
from warplens.simc.record import Record as Record
