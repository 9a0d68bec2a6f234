// Each warp reads one line of 128 bytes, `apart` bytes from that of its neighbour. If addresses went round the channels
// in turn, powers of two would camp on a few of them.
extern "C" __global__ void lines(const float* in, float* out, int apart) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  out[32 * warp + lane] = in[(size_t)warp * (apart / 4) + lane];
}
