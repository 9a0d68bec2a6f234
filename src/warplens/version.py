"""The version of this package, which every report names.  F2."""

__version__ = "0.1.0"
