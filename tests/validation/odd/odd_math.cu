// All functions of CUDA's math library, a group a kernel, over words of every exponent, NaN and infinities among them.
// /// warplens
// n = 1000
// [float_angles]
// grid = "ceil(n / 128)"
// block = 128
// args = ["random:u32[n]", "random:u32[n]", "zeros:u32[n]", "n"]
// [float_powers]
// grid = "ceil(n / 128)"
// block = 128
// args = ["random:u32[n]", "random:u32[n]", "zeros:u32[n]", "n"]
// [float_parts]
// grid = "ceil(n / 128)"
// block = 128
// args = ["random:u32[n]", "random:u32[n]", "zeros:u32[n]", "n"]
// [float_errors]
// grid = "ceil(n / 128)"
// block = 128
// args = ["random:u32[n]", "random:u32[n]", "zeros:u32[n]", "n"]
// [float_waves]
// grid = "ceil(n / 128)"
// block = 128
// args = ["random:u32[n]", "random:u32[n]", "zeros:u32[n]", "n"]
// [angles]
// grid = "ceil(n / 96)"
// block = 96
// args = ["random:u64[n]", "random:u64[n]", "zeros:u64[n]", "n"]
// [powers]
// grid = "ceil(n / 96)"
// block = 96
// args = ["random:u64[n]", "random:u64[n]", "zeros:u64[n]", "n"]
// [parts]
// grid = "ceil(n / 96)"
// block = 96
// args = ["random:u64[n]", "random:u64[n]", "zeros:u64[n]", "n"]
// [errors]
// grid = "ceil(n / 96)"
// block = 96
// args = ["random:u64[n]", "random:u64[n]", "zeros:u64[n]", "n"]
// [waves]
// grid = "ceil(n / 96)"
// block = 96
// args = ["random:u64[n]", "random:u64[n]", "zeros:u64[n]", "n"]
// [near_one]
// grid = "ceil(n / 96)"
// block = 96
// args = ["random:f64[n](-12,12)", "random:f64[n](-1,1)", "zeros:u64[n]", "n"]
// ///
typedef unsigned long long ull;
// A result joins what came before; every NaN is one.
struct Bits {
  ull sum = 0;
  __device__ void operator()(float v) { sum = sum * 31 + (v == v ? __float_as_uint(v) : 1); }
  __device__ void operator()(double v) { sum = sum * 31 + (v == v ? (ull)__double_as_longlong(v) : 1); }
  __device__ void operator()(long long v) { sum = sum * 31 + (ull)v; }
};
#define FLOATS(name, body)                                                                                   \
  extern "C" __global__ void name(const unsigned* xs, const unsigned* ys, unsigned* out, int n) {            \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                                           \
    if (i >= n) return;                                                                                      \
    float x = __uint_as_float(xs[i]), y = __uint_as_float(ys[i]), z = __uint_as_float(xs[n - 1 - i]), s, c;  \
    int e;                                                                                                   \
    Bits put;                                                                                                \
    (void)s, (void)c, (void)e, (void)y, (void)z;                                                             \
    body out[i] = (unsigned)(put.sum ^ put.sum >> 32);                                                       \
  }
#define DOUBLES(name, body)                                                                                  \
  extern "C" __global__ void name(const double* xs, const double* ys, ull* out, int n) {                     \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                                           \
    if (i >= n) return;                                                                                      \
    double x = xs[i], y = ys[i], z = xs[n - 1 - i], s, c;                                                    \
    int e;                                                                                                   \
    Bits put;                                                                                                \
    (void)s, (void)c, (void)e, (void)y, (void)z;                                                             \
    body out[i] = put.sum;                                                                                   \
  }
FLOATS(float_angles, sincosf(x, &s, &c); put(s); put(c); sincospif(x, &s, &c); put(s); put(c); put(tanf(x)); put(sinpif(y)); put(cospif(y));
       put(asinf(x)); put(acosf(x)); put(atanf(x)); put(atan2f(x, y)); put(sinhf(x)); put(coshf(x)); put(tanhf(x)); put(asinhf(x));
       put(acoshf(x)); put(atanhf(x)); put(__sinf(x)); put(__cosf(y)); put(__tanf(z));)
FLOATS(float_powers, put(expf(x)); put(exp2f(x)); put(exp10f(x)); put(expm1f(x)); put(logf(x)); put(log2f(x)); put(log10f(x)); put(log1pf(x));
       put(powf(x, y)); put(sqrtf(x)); put(rsqrtf(x)); put(cbrtf(x)); put(rcbrtf(x)); put(hypotf(x, y)); put(rhypotf(x, y));
       put(norm3df(x, y, z)); put(rnorm3df(x, y, z)); put(norm4df(x, y, z, x)); put(rnorm4df(x, y, z, y)); put(__expf(x)); put(__logf(x));
       put(__powf(x, y)); put(x / y); put(__fdividef(x, z));)
FLOATS(float_parts, put(frexpf(x, &e)); put((long long)(isfinite(x) ? e : 0)); put(ldexpf(x, (int)(xs[i] & 63) - 32)); put(logbf(x)); put((long long)ilogbf(x));
       put(modff(x, &s)); put(s); put(fmodf(x, y)); put(remainderf(x, y)); put(remquof(y, z, &e)); put((long long)(y == y && z == z ? e & 7 : 0));
       put(nextafterf(x, y)); put(fdimf(x, y)); put(floorf(x)); put(ceilf(x)); put(truncf(x)); put(rintf(x)); put(nearbyintf(x)); put(roundf(x));
       put(llrintf(x)); put(llroundf(x)); put(copysignf(x, y)); put(fmaf(x, y, z)); put(scalbnf(y, 3)); put((long long)signbit(x));)
FLOATS(float_errors, put(erff(x)); put(erfcf(x)); put(erfinvf(x)); put(erfcinvf(x)); put(erfcxf(x)); put(normcdff(x)); put(normcdfinvf(y)); put(tgammaf(x));
       put(lgammaf(y));)
FLOATS(float_waves, put(j0f(x)); put(j1f(x)); put(jnf(3, y)); put(y0f(x)); put(y1f(x)); put(ynf(4, y)); put(cyl_bessel_i0f(x)); put(cyl_bessel_i1f(x));)
DOUBLES(angles, sincos(x, &s, &c); put(s); put(c); sincospi(x, &s, &c); put(s); put(c); put(tan(x)); put(sinpi(y)); put(cospi(y)); put(asin(x));
        put(acos(x)); put(atan(x)); put(atan2(x, y)); put(sinh(x)); put(cosh(x)); put(tanh(x)); put(asinh(x)); put(acosh(x)); put(atanh(x));)
DOUBLES(powers, put(exp(x)); put(exp2(x)); put(exp10(x)); put(expm1(x)); put(log(x)); put(log2(x)); put(log10(x)); put(log1p(x)); put(pow(x, y));
        put(pow(x, 7)); put(sqrt(x)); put(rsqrt(x)); put(cbrt(x)); put(rcbrt(x)); put(hypot(x, y)); put(rhypot(x, y)); put(norm3d(x, y, z));
        put(rnorm3d(x, y, z)); put(norm4d(x, y, z, x)); put(rnorm4d(x, y, z, y)); put(x / y);)
DOUBLES(parts, put(frexp(x, &e)); put((long long)(isfinite(x) ? e : 0)); put(ldexp(x, (int)(n & 63) - 32)); put(logb(x)); put((long long)ilogb(x));
        put(modf(x, &s)); put(s); put(fmod(x, y)); put(remainder(x, y)); put(remquo(y, z, &e)); put((long long)(y == y && z == z ? e & 7 : 0));
        put(nextafter(x, y)); put(fdim(x, y)); put(floor(x)); put(ceil(x)); put(trunc(x)); put(rint(x)); put(nearbyint(x)); put(round(x));
        put(llrint(x)); put(llround(x)); put(copysign(x, y)); put(fma(x, y, z)); put(scalbn(y, 3)); put((long long)signbit(x));)
DOUBLES(errors, put(erf(x)); put(erfc(x)); put(erfinv(x)); put(erfcinv(x)); put(erfcx(x)); put(normcdf(x)); put(normcdfinv(y)); put(tgamma(x)); put(lgamma(y));)
DOUBLES(waves, put(j0(x)); put(j1(x)); put(jn(3, y)); put(y0(x)); put(y1(x)); put(yn(4, y)); put(cyl_bessel_i0(x)); put(cyl_bessel_i1(x));)
DOUBLES(near_one, put(sin(x)); put(cos(x)); put(tan(x)); put(asin(y)); put(acos(y)); put(atanh(y)); put(exp(x)); put(log(fabs(x))); put(log1p(y)); put(expm1(y));
        put(pow(fabs(x), y)); put(erf(x)); put(erfc(x)); put(erfinv(y)); put(normcdfinv(fabs(y))); put(tgamma(x)); put(lgamma(x)); put(j0(x)); put(jn(5, x));
        put(y1(fabs(x))); put(cyl_bessel_i1(x)); put(sinf((float)x)); put(powf((float)fabs(x), (float)y)); put(tgammaf((float)x)); put(erfinvf((float)y)); put(ynf(3, (float)fabs(x)));)
