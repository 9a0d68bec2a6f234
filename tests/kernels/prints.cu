// A kernel that prints, and one that fails after it has printed.
// /// warplens
// [prints]
// grid = 2
// block = 32
// args = ["zeros i64[1]"]
// [fails]
// grid = 1
// block = 2
// ///
#include <assert.h>
extern "C" __global__ void prints(long long *o) {
  if (threadIdx.x < 25) printf("block %d, <lane> %d\n", blockIdx.x, threadIdx.x);
  if (threadIdx.x == 0) o[0] = clock64();
}
extern "C" __global__ void fails() { printf("still fine\n"); assert(threadIdx.x == 0); }
