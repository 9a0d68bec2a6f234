"""Matrix product in cuda.tile; `warplens explain examples/tile_matmul.py` needs no GPU."""

import cuda.tile as ct
import numpy as np

M, N, K = 64, 64, 32  # of a tile


@ct.kernel
def matmul(a, b, c, m: ct.Constant[int], n: ct.Constant[int], k: ct.Constant[int]):
    row, column = ct.bid(0), ct.bid(1)
    total = ct.full((m, n), 0, dtype=ct.float32)
    for step in range(ct.num_tiles(a, axis=1, shape=(m, k))):
        left = ct.load(a, index=(row, step), shape=(m, k))
        right = ct.load(b, index=(step, column), shape=(k, n))
        total = ct.mma(left, right, total)
    ct.store(c, index=(row, column), tile=total)


def main() -> None:
    random = np.random.default_rng(1)
    a, b = (random.standard_normal((128, 128), np.float32).astype(np.float16) for _ in range(2))
    c = np.zeros((128, 128), np.float32)
    ct.launch(None, (len(a) // M, b.shape[1] // N), matmul, (a, b, c, M, N, K))
    assert np.allclose(c, a.astype(np.float32) @ b.astype(np.float32), atol=1e-3)


if __name__ == "__main__":
    main()
