// What the kernels of tests/kernels compute, one thread after the other, in plain C.  fmaf() stands where the machine
// code has an FFMA; the file is compiled without contraction of its own.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static int smaller(int a, int b) { return a < b ? a : b; }
static int larger(int a, int b) { return a > b ? a : b; }
static unsigned distance(int64_t a, int64_t b) { return (unsigned)(a > b ? a - b : b - a); }
static int low24(int a) { return (int)((unsigned)a << 8) >> 8; }

void i32(const int *a, const unsigned *b, int *o, unsigned *u, int n) {
  for (int i = 0; i < n; i++) {
    int x = a[i], y = a[i + n];
    unsigned p = b[i], q = b[i + n];
    int64_t xl = x, yl = y;
    uint64_t pl = p, ql = q;
    int r = x + y;
    r ^= x - y; r += x * y; r ^= (int)(xl / yl); r += (int)(xl % yl);
    r ^= (int)((xl * yl) >> 32);
    r += (int)((int64_t)low24(x) * low24(y));
    r ^= x < 0 ? -x : x;
    r += smaller(x, y);
    r ^= larger(x, y);
    r += distance(x, y) + 7u;
    r ^= (int)((xl + yl) >> 1);
    r ^= (int)((xl + yl + 1) >> 1);
    o[i] = r;
    unsigned s = p + q;
    s ^= p * q; s += p / q; s ^= p % q; s += (unsigned)((pl * ql) >> 32);
    s ^= (p & 0xffffff) * (q & 0xffffff);
    s += p < q ? p : q; s ^= p > q ? p : q;
    s += distance(p, q) + 3u;
    s ^= p / 7u; s += p % 10u; s ^= x / 7; s += x % 13; s ^= (unsigned)(x >> 3); s += p >> 5; s ^= q * 31 + p;
    s += (unsigned)((pl + ql) >> 1);
    u[i] = s;
  }
}

void i32clamp(int *a, int lo, int hi, int n, int threads) {
  for (int i = 0; i < threads; i++) {
    int v = a[i];
    v = smaller(larger(v, lo), hi); v = larger(v + 3, 0); v = smaller(v - lo, hi);
    a[i] = v;
    a[i + n] = larger(larger(v, lo), a[i + 2 * n]);
    a[i + 3 * n] = -v; a[i + 4 * n] = ~v; a[i + 5 * n] = v * 5; a[i + 6 * n] = v * 16 + lo;
  }
}

void ifelse(const int *a, int *o, int n) {
  for (int i = 0; i < n; i++) {
    int v = a[i];
    if (v & 1) {
      for (int k = 0; k < v; k++) v = v * 3 + a[v & 1023];
    } else if (v & 2) {
      v = a[v & 511] / v;
      while (v > 3) v -= a[v & 255];
    } else {
      v = v - 7;
    }
    o[i] = v;
  }
}

// One thread of `loops`; it writes to o[i + x] for several x.
void loops_thread(const int *a, int *o, int n, int i) {
  int s = 0;
  for (int x = 0; x < a[i]; x++) {
    for (int y = x; y < a[i + 1]; y++) {
      int t = a[x * n + y];
      if (t < 0) continue;
      if (t == 77) break;
      if (t == 99) goto done;
      s += t;
      for (int z = 0; z < t; z++) {
        s ^= a[z];
        if (s == 1234) break;
      }
    }
    if (s > 100000) return;
    o[i + x] = s;
  }
done:
  o[i] = s;
}

void loops(const int *a, int *o, int n, int threads) {
  for (int i = 0; i < threads; i++) loops_thread(a, o, n, i);
}

void collatz(const unsigned *a, unsigned *o, int n) {
  for (int i = 0; i < n; i++) {
    unsigned v = a[i], c = 0;
    while (v != 1) {
      v = (v & 1) ? 3 * v + 1 : v >> 1;
      c++;
      if (c > 1000) break;
    }
    o[i] = c;
  }
}

void mandel(float *o, int w, int h, int fused) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      float cr = x * 3.f / w - 2, ci = y * 2.f / h - 1, zr = 0, zi = 0;
      int k = 0;
      if (fused)
        while (k < 256 && fmaf(zr, zr, zi * zi) < 4) {
          float t = fmaf(zr, zr, -(zi * zi)) + cr;
          zi = fmaf(2 * zr, zi, ci);
          zr = t;
          k++;
        }
      else
        while (k < 256 && zr * zr + zi * zi < 4) {
          float t = zr * zr - zi * zi + cr;
          zi = 2 * zr * zi + ci;
          zr = t;
          k++;
        }
      o[y * w + x] = k;
    }
}

// C = A B for row-major A (M x K) and B (K x N), one fused multiply-add a step.
void matmul(const float *A, const float *B, float *C, int M, int N, int K) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float s = 0;
      for (int k = 0; k < K; k++) s = fmaf(A[i * K + k], B[k * N + j], s);
      C[i * N + j] = s;
    }
}

void st2(const float *a, float *o, int w, int h) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int up = larger(y - 1, 0), down = smaller(y + 1, h - 1), left = larger(x - 1, 0), right = smaller(x + 1, w - 1);
      float s = a[y * w + x] + a[up * w + x];
      s = s + a[down * w + x];
      s = s + a[y * w + left];
      s = s + a[y * w + right];
      o[y * w + x] = 0.2f * s;
    }
}

void st3(const double *a, double *o, int nx, int ny, int nz) {
  for (int k = 1; k < nz - 1; k++)
    for (int j = 1; j < ny - 1; j++)
      for (int i = 1; i < nx - 1; i++) {
        size_t q = ((size_t)k * ny + j) * nx + i, layer = (size_t)nx * ny;
        o[q] = fma(a[q], 6.0, -a[q - 1]) - a[q + 1] - a[q - nx] - a[q + nx] - a[q - layer] - a[q + layer];
      }
}

void spmv(const int *rp, const int *ci, const float *v, const float *x, float *y, int n) {
  for (int r = 0; r < n; r++) {
    float s = 0;
    for (int k = rp[r]; k < rp[r + 1]; k++) s = fmaf(v[k], x[ci[k]], s);
    y[r] = s;
  }
}

void spmvv(const int *rp, const int *ci, const float *v, const float *x, float *y, int n) {
  for (int r = 0; r < n; r++) {
    float lane[32] = {0}, old[32];
    for (int l = 0; l < 32; l++)
      for (int k = rp[r] + l; k < rp[r + 1]; k += 32) lane[l] = fmaf(v[k], x[ci[k]], lane[l]);
    for (int o = 16; o; o /= 2) {
      for (int l = 0; l < 32; l++) old[l] = lane[l];
      for (int l = 0; l < 32; l++) lane[l] = old[l] + old[l ^ o];
    }
    y[r] = lane[0];
  }
}

void chase(const int *a, int *o, int n, int threads) {
  for (int t = 0; t < threads; t++) {
    int p = t;
    for (int i = 0; i < n; i++) p = a[p];
    o[t] = p;
  }
}
