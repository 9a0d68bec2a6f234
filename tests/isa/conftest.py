from typing import Any

import pytest
from engine import NumpyEngine


@pytest.fixture(scope="session", params=["numpy", pytest.param("llvm", marks=pytest.mark.long)])
def engine(request: pytest.FixtureRequest) -> Any:
    if request.param == "numpy":
        return NumpyEngine()
    from llvm_engine import LlvmEngine

    return LlvmEngine()
