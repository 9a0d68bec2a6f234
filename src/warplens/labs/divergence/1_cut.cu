// How a block is cut into warps: x fastest, then y, then z; 32 consecutive numbers are a warp.
// Each thread writes the number of its warp, which it hears from the warp's first lane.
extern "C" __global__ void cut(int* warp) {
  int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  warp[thread] = __shfl_sync(__activemask(), thread, 0) / 32;
}
