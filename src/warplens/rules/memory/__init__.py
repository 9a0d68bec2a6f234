"""Memory rules: faults in how a launch uses global, local and shared memory."""
