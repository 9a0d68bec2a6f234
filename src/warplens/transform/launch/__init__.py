"""How many threads do the work, and in which blocks."""
