"""Launch specification: how a launch is written as text.

In: text of the command line, of the launch block in a .cu file and of lab.toml.
Out: `Launch`, argument values (numpy arrays, numbers, structures) and names with their numbers; each error names the
text and what is possible there.

It does not know the kernel: whether arguments fit its parameters is decided in commands/ and emulator/memory.
"""
