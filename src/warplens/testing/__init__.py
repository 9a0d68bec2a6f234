"""Testing: a plugin for pytest: launch a kernel in a test and check budgets on its counts."""
