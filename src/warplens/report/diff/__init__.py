"""Reports of `warplens diff`: for a terminal or log, and as JSON."""
