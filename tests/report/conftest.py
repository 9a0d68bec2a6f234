"""A run by its name in runs.py."""

from __future__ import annotations

import pytest

from helpers.report_runs import subject_of
from warplens.report.launch_view import LaunchView


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> LaunchView:
    """The run that the test is parametrised with, indirectly."""
    return subject_of(request.param)
