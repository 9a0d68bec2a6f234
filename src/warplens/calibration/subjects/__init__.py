"""Calibration subjects: one file a part of the GPU; NAME.py has the trials, NAME.cu their kernels."""
