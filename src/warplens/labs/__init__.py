"""Labs: lessons, one a folder: run, counted, predicted, and measured on a GPU if there is one.

A lab is a folder with rungs (1_naive.cu, 2_tiled.cu ...), lab.toml, truth.py and README.md: docs/labs.md.
"""
