"""Softmax of each row of a matrix, in Triton; `warplens explain examples/row_softmax.py` needs no GPU."""

import numpy as np
import triton
import triton.language as tl

import warplens as wl


@triton.jit
def row_softmax(x_ptr, y_ptr, columns, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    place = tl.arange(0, BLOCK)
    inside = place < columns
    x = scale * tl.load(x_ptr + row * columns + place, mask=inside, other=-float("inf"))
    power = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * columns + place, power / tl.sum(power, 0), mask=inside)


def main() -> None:
    x = np.random.default_rng(1).standard_normal((256, 1000), np.float32)
    y = np.empty_like(x)
    run = wl.triton(row_softmax)[len(x),](x, y, x.shape[1], 0.5, BLOCK=1024, num_warps=4)
    power = np.exp(0.5 * x - 0.5 * x.max(1, keepdims=True))
    assert np.allclose(y, power / power.sum(1, keepdims=True), atol=1e-6)
    print(run)


if __name__ == "__main__":
    main()
