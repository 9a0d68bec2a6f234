"""Instruction rules: faults in what the warps of a launch execute."""
