"""The labs: a folder a lesson, run, counted, predicted, and measured where there is a GPU.

A lab is a folder with rungs (1_naive.cu, 2_tiled.cu ...), lab.toml, truth.py and README.md: docs/labs.md.
"""
