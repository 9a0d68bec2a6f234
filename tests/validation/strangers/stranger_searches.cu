// Searches, trees and going back: what makes the lanes of a warp part and loop at different lengths.
// /// warplens
// [queens]
// grid = 3
// block = 32
// args = ["zeros:u32[96]", "8"]
// [sudoku_rows]
// grid = 4
// block = 64
// args = ["random:u32[256](0,511)", "zeros:i32[256]"]
// [nearest_in_tree]
// grid = 6
// block = 64
// args = ["random:f32[3069](0,1)", "random:f32[1152](0,1)", "zeros:i32[384]", "1023", "384"]
// [spheres]
// grid = [5, 6]
// block = [8, 8]
// args = ["random:f32[96](-2,2)", "zeros:u32[1920]", "40", "48", "24"]
// [breadth_first]
// grid = 12
// block = 64
// args = ["random:i32[601](0,40)", "random:i32[6000](0,600)", "random:i32[600](0,2)", "zeros:i32[600]", "zeros:i32[600]", "600"]
// [quick_sort]
// grid = 2
// block = 32
// args = ["random:i32[2560](0,10000)", "40"]
// [expressions]
// grid = 3
// block = 96
// args = ["random:u8[4608](0,12)", "random:i32[288](-9,9)", "zeros:i32[288]", "16"]
// [b_tree]
// grid = 20
// block = 64
// args = ["random:i32[4160](0,64)", "random:i32[20](0,4096)", "zeros:i32[20]", "3"]
// [game_of_sets]
// grid = 4
// block = 64
// args = ["random:u32[256](0,65536)", "zeros:u32[256]", "zeros:u32[1]"]
// ///
extern "C" {

__global__ void queens(unsigned *count, int n) {  // depth first with a stack of one's own
  int id = blockIdx.x * blockDim.x + threadIdx.x, first = id % n, second = id / n % n;
  unsigned full = (1u << n) - 1, found = 0;
  unsigned columns[16], left[16], right[16], free_[16];
  unsigned a = 1u << first, b = 1u << second;
  if (id < n * n && !((a | a << 1 | a >> 1) & b)) {
    int depth = 2;
    columns[2] = a | b; left[2] = (a << 1 | b) << 1; right[2] = (a >> 1 | b) >> 1;
    free_[2] = full & ~(columns[2] | left[2] | right[2]);
    while (depth >= 2) {
      if (!free_[depth]) { depth--; continue; }
      unsigned bit = free_[depth] & -free_[depth];
      free_[depth] ^= bit;
      if (depth == n - 1) { found++; continue; }
      columns[depth + 1] = columns[depth] | bit;
      left[depth + 1] = (left[depth] | bit) << 1;
      right[depth + 1] = (right[depth] | bit) >> 1;
      depth++;
      free_[depth] = full & ~(columns[depth] | left[depth] | right[depth]);
    }
  }
  count[id] = found;
}

__global__ void sudoku_rows(const unsigned *given, int *out) {  // fills rows of nine under masks, with going back
  int id = blockIdx.x * 64 + threadIdx.x;
  unsigned forbid = given[id];
  int row[9], at = 0, steps = 0;
  unsigned used = 0;
  for (int k = 0; k < 9; k++) row[k] = -1;
  while (at >= 0 && at < 9 && steps < 400) {
    steps++;
    if (row[at] >= 0) used &= ~(1u << row[at]);
    int next = row[at] + 1;
    for (; next < 9; next++) {
      if (used >> next & 1) continue;
      if ((forbid >> at & 1) && (next & 1) == (at & 1)) continue;
      if (at && (forbid >> next & 1) && abs(row[at - 1] - next) == 1) continue;
      break;
    }
    if (next == 9) { row[at] = -1; at--; continue; }
    row[at] = next; used |= 1u << next; at++;
  }
  int code = at;
  for (int k = 0; k < 9; k++) code = code * 10 + max(row[k], 0);
  out[id] = code + steps;
}

__global__ void nearest_in_tree(const float *nodes, const float *queries, int *out, int n, int count) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= count) return;
  float x[3] = {queries[3 * q], queries[3 * q + 1], queries[3 * q + 2]}, best = 1e30f;
  int stack[24], top = 0, found = -1, axis_of[24];
  stack[top] = 0; axis_of[top++] = 0;
  while (top) {
    int node = stack[--top], axis = axis_of[top];
    if (node >= n) continue;
    float d = 0;
    for (int k = 0; k < 3; k++) { float e = nodes[3 * node + k] - x[k]; d += e * e; }
    if (d < best) { best = d; found = node; }
    float side = x[axis] - nodes[3 * node + axis];
    int near_ = 2 * node + (side < 0 ? 1 : 2), far_ = 2 * node + (side < 0 ? 2 : 1), next = axis == 2 ? 0 : axis + 1;
    if (side * side < best) { stack[top] = far_; axis_of[top++] = next; }
    stack[top] = near_; axis_of[top++] = next;
  }
  out[q] = found;
}

struct Ray { float3 o, d; };
__device__ float dot3(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ bool hit(const float4 &s, const Ray &r, float &t) {
  float3 oc = make_float3(r.o.x - s.x, r.o.y - s.y, r.o.z - s.z);
  float b = dot3(oc, r.d), c = dot3(oc, oc) - s.w * s.w, disc = b * b - c;
  if (disc < 0) return false;
  float root = sqrtf(disc), near_ = -b - root;
  if (near_ > 1e-3f && near_ < t) { t = near_; return true; }
  near_ = -b + root;
  if (near_ > 1e-3f && near_ < t) { t = near_; return true; }
  return false;
}
__global__ void spheres(const float4 *world, unsigned *picture, int w, int h, int count) {
  __shared__ float4 cached[24];
  int t0 = threadIdx.y * blockDim.x + threadIdx.x;
  if (t0 < count) { cached[t0] = world[t0]; cached[t0].w = fabsf(cached[t0].w) * 0.3f + 0.1f; }
  __syncthreads();
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float3 d = make_float3((x - w / 2) / (float)w, (y - h / 2) / (float)h, 1);
  float scale = 1.0f / sqrtf(dot3(d, d));
  Ray r = {make_float3(0, 0, -4), make_float3(d.x * scale, d.y * scale, d.z * scale)};
  float light = 0, weight = 1;
  for (int bounce = 0; bounce < 5; bounce++) {
    float t = 1e9f;
    int which = -1;
    for (int k = 0; k < count; k++)
      if (hit(cached[k], r, t)) which = k;
    if (which < 0) { light += weight * (0.5f + 0.5f * r.d.y); break; }
    float4 s = cached[which];
    float3 p = make_float3(r.o.x + t * r.d.x, r.o.y + t * r.d.y, r.o.z + t * r.d.z);
    float3 n = make_float3((p.x - s.x) / s.w, (p.y - s.y) / s.w, (p.z - s.z) / s.w);
    if (which % 3 == 0) { light += weight * fmaxf(n.y, 0.0f); break; }
    float k = 2 * dot3(r.d, n);
    r.o = p; r.d = make_float3(r.d.x - k * n.x, r.d.y - k * n.y, r.d.z - k * n.z);
    weight *= which % 3 == 1 ? 0.8f : 0.5f;
  }
  picture[y * w + x] = __float_as_uint(light);
}

__global__ void breadth_first(const int *degrees, const int *edges, const int *mask, int *updating, int *cost, int n) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid < n && mask[tid]) {
    int from = tid * 10, to = from + degrees[tid] % 11;
    for (int i = from; i < min(to, 6000); i++) {
      int id = edges[i];
      if (!mask[id]) { cost[id] = 1; updating[id] = 1; }
    }
  }
}

__device__ void swap_(int &a, int &b) { int t = a; a = b; b = t; }
__global__ void quick_sort(int *data, int n) {
  int *a = data + (blockIdx.x * blockDim.x + threadIdx.x) * n;
  int lows[12], highs[12], top = 0;
  lows[0] = 0; highs[0] = n - 1; top = 1;
  while (top > 0) {
    top--;
    int low = lows[top], high = highs[top];
    while (low < high) {
      if (high - low < 6) {
        for (int i = low + 1; i <= high; i++) {
          int v = a[i], j = i - 1;
          while (j >= low && a[j] > v) { a[j + 1] = a[j]; j--; }
          a[j + 1] = v;
        }
        break;
      }
      int pivot = a[(low + high) / 2], i = low, j = high;
      do {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i <= j) { swap_(a[i], a[j]); i++; j--; }
      } while (i <= j);
      if (j - low < high - i) { lows[top] = i; highs[top++] = high; high = j; }
      else { lows[top] = low; highs[top++] = j; low = i; }
    }
  }
}

__global__ void expressions(const unsigned char *code, const int *x, int *out, int length) {
  int id = blockIdx.x * blockDim.x + threadIdx.x, stack[16], top = 0, v = x[id];
  const unsigned char *c = code + id * length;
  for (int i = 0; i < length; i++) {
    unsigned op = c[i];
    if (top < 2 || (op >= 8 && top < 14)) { stack[top++] = op & 1 ? v : (int)op; continue; }
    int b = stack[--top], a = stack[--top], r;
    switch (op) {
      case 0: r = a + b; break;
      case 1: r = a - b; break;
      case 2: r = a * b; break;
      case 3: r = b ? a / b : 0; break;
      case 4: r = b ? a % b : a; break;
      case 5: r = min(a, b); break;
      case 6: r = a < b ? -a : b; break;
      case 7: r = a ^ (b << 3); break;
      default: stack[top++] = a; r = b; break;
    }
    stack[top++] = r;
  }
  while (top > 1) { top--; stack[top - 1] += stack[top]; }
  out[id] = top ? stack[0] : 0;
}

__global__ void b_tree(const int *keys, const int *wanted, int *found, int height) {  // a block a query, a thread a key
  __shared__ int node, hits;
  int target = wanted[blockIdx.x];
  if (threadIdx.x == 0) { node = 0; hits = 0; }
  __syncthreads();
  for (int level = 0; level < height; level++) {
    int here = node, low = keys[here * 64 + threadIdx.x] + (int)threadIdx.x * 64;
    bool mine = low <= target && target < low + 64;
    __syncthreads();
    if (mine) atomicMax(&node, (here * 7 + (int)threadIdx.x) % 64);
    if (mine) atomicAdd(&hits, 1);
    __syncthreads();
    if (__syncthreads_or(mine) == 0) break;
  }
  if (threadIdx.x == 0) found[blockIdx.x] = node * 100 + hits;
}

__global__ void game_of_sets(const unsigned *cards, unsigned *out, unsigned *total) {  // continue, break and return deep inside
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned mine = cards[id], found = 0;
  if (mine % 11 == 0) return;
  for (int i = 0; i < 256; i++) {
    unsigned other = cards[i];
    if ((other ^ mine) & 1) continue;
    for (int j = i + 1; j < 256; j += 1 + (mine & 3)) {
      unsigned third = cards[j] ^ other ^ mine;
      if (__popc(third) > 12) break;
      if ((third & 7) == 7) continue;
      if (third == 0x1234) { out[id] = ~0u; return; }
      found += third & 15;
      if (found > 5000) goto enough;
    }
  }
enough:
  out[id] = found;
  unsigned sum = __reduce_add_sync(__activemask(), found);
  if ((threadIdx.x & 31) == __ffs(__activemask()) - 1) atomicAdd(total, sum);
}
}
