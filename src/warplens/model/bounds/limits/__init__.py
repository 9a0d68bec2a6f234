"""One file a limit: `bound(work)`, or None where the launch has no such work."""
