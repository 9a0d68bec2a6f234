"""The version of this package, which every report names."""

__version__ = "0.1.0"
