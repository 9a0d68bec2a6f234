// Two ways to copy 16,777,216 floats, and why one of them makes the GPU do more.
//
//   warplens explain examples/copy.cu
//
// needs nothing else: the block below says how both kernels are started. It is TOML behind "//" and is a plain
// comment to the CUDA compiler. docs/launch.md explains its words.
//
// /// warplens
// n = 16777216
//
// [ccopy]
// grid = "n / 128"
// block = 128
// args = ["in = random f32[n]", "out = zeros f32[n]", "n"]
//
// [nccopy]
// grid = "n / 128"
// block = 128
// args = ["in = random f32[n]", "out = zeros f32[n]", "n"]
// ///

// A GPU runs threads in groups of 32, the warps. All lanes of a warp execute a load at the same time, and memory
// answers in sectors of 32 bytes: so what a load costs depends on how many sectors the 32 addresses touch.

extern "C" {

// Coalesced: neighbouring threads read neighbouring floats. 32 lanes of 4 bytes are 128 bytes in a row, which is
// 4 sectors, and every byte of them is used.
__global__ void ccopy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

// Not coalesced: neighbouring threads read every second float. The same 32 values now lie in 256 bytes, which is
// 8 sectors, and half of what is fetched goes unused. The stores are as before.
// And there is a second cost, which only the machine code shows: n is not known when this is compiled, and a GPU has
// no instruction for a remainder, so "% n" becomes about twenty more instructions in every thread.
__global__ void nccopy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[(2 * i) % n];
}

}
