"""Kernels run on all architectures and in both tiers: see helpers/execution_tiers.py."""

from __future__ import annotations

from helpers.execution_tiers import pytest_generate_tests, tier

__all__ = ["pytest_generate_tests", "tier"]
