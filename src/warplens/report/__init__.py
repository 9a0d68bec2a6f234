"""How a run is shown: one file a format; only this package formats.  F7."""
