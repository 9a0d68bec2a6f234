// Arrays of structures: loads and stores of some fields, and what they cost beside each other.
struct Four { float x, y, z, w; };
struct Small { char c; short s; float f; };
#define FIELDS(name, type, body)                                   \
  extern "C" __global__ void name(type* p, int n) {               \
    int i = threadIdx.x + blockIdx.x * blockDim.x;                \
    if (i < n) { body; }                                          \
  }
FIELDS(four_load, Four, if (p[i].x == UNLIKELY) p[i].y = 1)
FIELDS(four_loads, Four, if (p[i].x + p[i].y * p[i].z == UNLIKELY) p[i].y = 1)
FIELDS(four_store, Four, p[i].x = i)
FIELDS(four_stores, Four, p[i].x = i; p[i].w = i)
FIELDS(four_all, Four, p[i].x = i; p[i].y = i; p[i].z = i; p[i].w = i)
FIELDS(four_change, Four, p[i].x += 1)
FIELDS(four_changes, Four, p[i].x += 1; p[i].w = i)
FIELDS(small_store, Small, p[i].c = i)
FIELDS(small_stores, Small, p[i].c = i; p[i].f = i)
FIELDS(small_change, Small, p[i].c += 1)
FIELDS(small_changes, Small, p[i].c += 1; p[i].s -= 2)
FIELDS(small_float, Small, p[i].f *= 3)
FIELDS(byte_store, char, p[i] = i)
FIELDS(byte_change, char, p[i] += 1)
FIELDS(short_change, short, p[i] += 1)
