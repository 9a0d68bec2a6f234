"""Macros that hide a kernel, its structure or a loop: what is said of them."""

from __future__ import annotations

import pytest

from transform.proposals import facts, refusals
from warplens.errors import UsageError
from warplens.transform import KernelSource
from warplens.transform.instructions.unroll_loops import unroll_loops

LOOP = """#define FOR_EACH(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x)
#define CHECK(x) do { if (!(x)) __trap(); } while (0)
__global__ void f(const float* x, float* y, int n) {
  CHECK(n > 0);
  FOR_EACH(i, n) {
    y[i] = 2 * x[i];
  }
}
"""


def test_a_loop_in_a_macro_is_named_and_one_that_runs_once_is_none() -> None:
    assert refusals(unroll_loops, LOOP, facts()) == [
        (5, "no change of the loop that the macro FOR_EACH hides: write it out")
    ]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "#define LOOP for (int r = 0; r < 9; ++r) {\n#define END }\n__global__ void f(float* x) {\n  LOOP\n"
            "    x[r] += 1;\n  END\n}\n",
            "the definition of f cannot be parsed in line 5: LOOP and END, which #define makes, may hide its structure",
        ),
        (
            '#include "body.cuh"\n__global__ void f(float* x) {\n  int i = 1;\n  BODY\n}\n',
            "the definition of f cannot be parsed in line 4: macros may hide its structure",
        ),
        (
            "#define KERNEL(T) __global__ void f(T* x) { *x += 1; }\nKERNEL(float)\n",
            "the source has no definition of a kernel f: the macro KERNEL in line 1 makes kernels",
        ),
        (
            '#include "kernels.cuh"\n',
            "the source has no definition of a kernel f: it may be made by a macro, or be in a file that is included",
        ),
        (
            "#ifdef WIDE\n__global__ void f(double* x) {}\n#else\n__global__ void f(float* x) {}\n#endif\n",
            "the source has 2 definitions of a kernel f, in lines 2 and 4",
        ),
    ],
)
def test_why_a_kernel_cannot_be_changed(source: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        KernelSource(source, "f")
    assert str(error.value) == message
