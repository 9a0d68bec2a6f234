"""@compiled: Python functions over numbers and arrays that run in machine code of this host.

What loops over every instruction of a simulation is written in Python and compiled, in a second and kept on disk.
function.py calls it, from_python.py and expressions.py read the Python, typed_values.py is what they work with;
record.py: floats by name that a compiled function changes.
"""

from warplens.simc.function import compiled as compiled
from warplens.simc.record import Record as Record
