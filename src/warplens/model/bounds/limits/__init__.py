"""Limits: one file each, `bound(work)`, None where there is no such work."""
