"""Program analysis: facts about a kernel that are known before it runs.

In: a `Program` and the operation of each of its instructions.
Out: control flow, liveness, divergence, uniform and affine values, the backward slice of branches and addresses, and
which counts depend on the order of warps.

It emits no code and reads no data; facts hold for every launch.
"""
