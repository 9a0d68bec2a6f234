// A part of a three-dimensional array, made contiguous: places by division of the thread's number, or by blocks in
// three dimensions.
// /// warplens
// nx = 192
// ny = 256
// nz = 256
// pitch = 256
// [contiguous]
// grid = "nx * ny * nz / 256"
// block = 256
// args = ["random f32[pitch * ny * nz]", "zeros f32[nx * ny * nz]", "nx", "ny", "pitch", "nx * ny * nz"]
// [contiguous_blocks]
// grid = [1, "ny", "nz"]
// block = "nx"
// args = ["random f32[pitch * ny * nz]", "zeros f32[nx * ny * nz]", "nx", "ny", "pitch", "nx * ny * nz"]
// ///
extern "C" __global__ void contiguous(const float* in, float* out, int nx, int ny, int pitch, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int x = i % nx, y = i / nx % ny, z = i / nx / ny;
    out[i] = in[(z * ny + y) * pitch + x];
  }
}

extern "C" __global__ void contiguous_blocks(const float* in, float* out, int nx, int ny, int pitch, int n) {
  int x = threadIdx.x, y = blockIdx.y, z = blockIdx.z;
  out[(z * ny + y) * nx + x] = in[(z * ny + y) * pitch + x];
}
