"""Launch memo: launches that repeat others are not executed.

In come launches by kernel, shape and parameters, what each touched once it was executed, and what the program itself
does with memory.  Out go earlier launches that a new one repeats, and the order to execute them late when their
results are looked at.  It does not know what a kernel does, nor how long it takes.
"""
