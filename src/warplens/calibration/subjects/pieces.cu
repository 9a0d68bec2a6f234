// Pieces anywhere: groups of lanes read or write pieces of so many bytes, or chains of single words, in up to 64 GiB.
#define NEXT at = at * 1664525u + 1013904223u
#define PLACE(pieces) (unsigned)(((unsigned long long)(at ^ at >> 15) * (pieces)) >> 32)
// `lanes` (a power of two) neighbouring lanes share a piece; pieces begin `apart` words from each other.
#define PIECES(name, type, body)                                                                                    \
  extern "C" __global__ void name(type* x, float* sink, unsigned pieces, int lanes, int apart, int rounds) {       \
    unsigned thread = threadIdx.x + blockIdx.x * blockDim.x, at = thread / lanes * 2654435761u;                     \
    float sum = 0;                                                                                                  \
    for (int r = 0; r < rounds; ++r) {                                                                              \
      NEXT;                                                                                                         \
      type* p = x + (long)PLACE(pieces) * apart + thread % lanes;                                                   \
      body;                                                                                                         \
    }                                                                                                               \
    if (sum == UNLIKELY) sink[0] = sum;                                                                             \
  }
PIECES(load_pieces, float, sum += *p)
PIECES(load_pieces_16, float4, sum += all(*p))
PIECES(store_pieces, float, *p = r)
PIECES(store_pieces_16, float4, *p = make_float4(r, r, r, r))
PIECES(add_pieces, float, atomicAdd(p, 1.0f))
extern "C" {
// Memory of zeros: where the next word is depends on the one before, each lane for itself.
__global__ void chain_anywhere(long long* ticks, const unsigned* x, unsigned* sink, unsigned pieces, int rounds) {
  unsigned at = (threadIdx.x + blockIdx.x * blockDim.x) * 2654435761u + 12345u;
  TICKS(for (int r = 0; r < rounds; ++r) { NEXT; at += x[(long)PLACE(pieces) * 8]; })
  if (at == 123456789u) sink[0] = at;
}
}
