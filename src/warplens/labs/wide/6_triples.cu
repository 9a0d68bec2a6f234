// Points of three floats. 12 is no power of two, so a point cannot be aligned to its size, and it takes three loads of
// 4 bytes. Each of them asks for all 12 sectors in which the 32 points lie, and uses a third.
struct Point {
  float x, y, z;
};

__global__ void add(const Point* x, const Point* y, Point* z, int points) {
  int all = blockDim.x * gridDim.x;
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < points; i += all) {
    Point a = x[i], b = y[i];
    z[i] = {a.x + b.x, a.y + b.y, a.z + b.z};
  }
}
