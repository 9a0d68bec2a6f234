"""System services: the disk cache, atomic file writes, NVIDIA's programs in wheels, release of unused pages.

In: names, bytes and paths.
Out: bytes and paths; a write is complete or absent, a cached file is intact or made anew.

Nothing here knows of kernels, programs or GPUs.
"""
