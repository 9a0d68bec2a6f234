"""Program rules: faults of a whole program between host and GPU, which no launch shows by itself."""
