// Arrays of structures: loads and stores of some fields, and what they cost beside each other.
struct Four { float x, y, z, w; };
struct Small { char c; short s; float f; };
struct Seven { float v[7]; };
struct Twelve { float v[12]; };
// Of the first `loads` fields of a structure the first `stores` are changed.
template <class T> __device__ void changed(T* p, int i, int loads, int stores) {
  float v[12], sum = 0;
#pragma unroll
  for (int k = 0; k < loads; ++k) sum += v[k] = p[i].v[k];
#pragma unroll
  for (int k = 0; k < stores; ++k) p[i].v[k] = v[k] + sum;
  if (sum == UNLIKELY) p[i].v[0] = 1;
}
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
FIELDS(seven_loads, Seven, changed(p, i, 7, 0))
FIELDS(seven_three, Seven, changed(p, i, 7, 3))
FIELDS(seven_all, Seven, changed(p, i, 7, 7))
FIELDS(seven_some, Seven, if (i % 3) changed(p, i, 7, 3))
FIELDS(twelve_loads, Twelve, changed(p, i, 12, 0))
FIELDS(twelve_three, Twelve, changed(p, i, 12, 3))
FIELDS(twelve_all, Twelve, changed(p, i, 12, 12))
