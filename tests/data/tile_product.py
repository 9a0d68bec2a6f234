"""A matrix product in tiles, of which tile_product.sm_90.cubin is made (cuda.tile 1.7.0, tileiras 13.5.37)."""

import cuda.tile as ct


@ct.kernel
def tile_product(a, b, c, m: ct.Constant[int], n: ct.Constant[int], k: ct.Constant[int]):
    row, column = ct.bid(0), ct.bid(1)
    total = ct.full((m, n), 0, dtype=ct.float32)
    for step in range(ct.num_tiles(a, axis=1, shape=(m, k))):
        left = ct.load(a, index=(row, step), shape=(m, k))
        right = ct.load(b, index=(step, column), shape=(k, n))
        total = ct.mma(left, right, total)
    ct.store(c, index=(row, column), tile=total)
