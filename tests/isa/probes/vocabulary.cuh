
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_fp6.h>
#include <cuda_fp4.h>
#include <cuComplex.h>
typedef unsigned long long ull;
#define D __device__ __forceinline__
D ull bits(int x){return (unsigned)x;} D ull bits(unsigned x){return x;} D ull bits(bool x){return x;} D ull bits(short x){return (unsigned short)x;} D ull bits(unsigned short x){return x;}
D ull bits(signed char x){return (unsigned char)x;} D ull bits(unsigned char x){return x;}
D ull bits(long long x){return x;} D ull bits(ull x){return x;} D ull bits(float x){return __float_as_uint(x);} D ull bits(double x){return __double_as_longlong(x);}
D ull bits(__half x){return __half_as_ushort(x);} D ull bits(__half2 x){return *(unsigned*)&x;} D ull bits(__nv_bfloat16 x){return __bfloat16_as_ushort(x);} D ull bits(__nv_bfloat162 x){return *(unsigned*)&x;}
#define U1(n,p,T,R,rt,ra) D T n(R x){T r; asm(p " %0, %1;":"=" rt(r):ra(x)); return r;}
D int vib(int a,int b){bool p;int r=__vibmax_s32(a,b,&p);return p?r:~r;} D unsigned vibu(unsigned a,unsigned b){bool p;unsigned r=__vibmin_u32(a,b,&p);return p?r:~r;}
D unsigned vib16(unsigned a,unsigned b){bool p,q;unsigned r=__vibmax_s16x2(a,b,&p,&q);return r+2*p+q;} D unsigned vib16u(unsigned a,unsigned b){bool p,q;unsigned r=__vibmin_u16x2(a,b,&p,&q);return r+2*p+q;}
#define A3(n,p,T,rt,X,xt,Y,yt,Z,zt) D T n(X x,Y y,Z z){T r; asm(p " %0, %1, %2, %3;":"=" rt(r):xt(x),yt(y),zt(z)); return r;}
#define A2(n,p,T,rt,X,xt,Y,yt) D T n(X x,Y y){T r; asm(p " %0, %1, %2;":"=" rt(r):xt(x),yt(y)); return r;}
#define A1(n,p,T,rt,X,xt) D T n(X x){T r; asm(p " %0, %1;":"=" rt(r):xt(x)); return r;}
A3(dp4a_su,"dp4a.s32.u32",int,"r",int,"r",unsigned,"r",int,"r")
A3(bfe,"bfe.u32",unsigned,"r",unsigned,"r",unsigned,"r",unsigned,"r") A3(bfes,"bfe.s32",int,"r",int,"r",unsigned,"r",unsigned,"r")
D unsigned bfi(unsigned a,unsigned b,unsigned c,unsigned d){unsigned r;asm("bfi.b32 %0,%1,%2,%3,%4;":"=r"(r):"r"(a),"r"(b),"r"(c),"r"(d));return r;}
A3(fns,"fns.b32",unsigned,"r",unsigned,"r",unsigned,"r",int,"r")
D long long sel64(bool p,long long l,long long m){return p?l:m;}
A1(bfind,"bfind.u32",unsigned,"r",unsigned,"r") A1(bfinds,"bfind.s32",unsigned,"r",int,"r")
A2(szext,"szext.clamp.s32",int,"r",int,"r",unsigned,"r") A2(bmsk,"bmsk.clamp.b32",unsigned,"r",unsigned,"r",unsigned,"r")
D ull add3(ull a,ull b,ull c){return a+b+c;} D long long mad64(long long a,long long b,long long c){return a*b+c;}
D unsigned madcc(unsigned a,unsigned b,unsigned c){unsigned lo,hi;asm("mad.lo.cc.u32 %0,%2,%3,%4; madc.hi.u32 %1,%2,%3,%4;":"=r"(lo),"=r"(hi):"r"(a),"r"(b),"r"(c));return lo^hi;}
D unsigned subc(unsigned a,unsigned b,unsigned c){unsigned lo,hi;asm("sub.cc.u32 %0,%2,%3; subc.u32 %1,%4,%3;":"=r"(lo),"=r"(hi):"r"(a),"r"(b),"r"(c));return lo^hi;}
A3(prmt_f4e,"prmt.b32.f4e",unsigned,"r",unsigned,"r",unsigned,"r",unsigned,"r") A3(prmt_b4e,"prmt.b32.b4e",unsigned,"r",unsigned,"r",unsigned,"r",unsigned,"r") A3(prmt_rc8,"prmt.b32.rc8",unsigned,"r",unsigned,"r",unsigned,"r",unsigned,"r")
A3(prmt_ecl,"prmt.b32.ecl",unsigned,"r",unsigned,"r",unsigned,"r",unsigned,"r") A3(prmt_ecr,"prmt.b32.ecr",unsigned,"r",unsigned,"r",unsigned,"r",unsigned,"r") A3(prmt_rc16,"prmt.b32.rc16",unsigned,"r",unsigned,"r",unsigned,"r",unsigned,"r")
D unsigned lop3(unsigned a,unsigned b,unsigned c){unsigned r;asm("lop3.b32 %0,%1,%2,%3,0x6b;":"=r"(r):"r"(a),"r"(b),"r"(c));return r;}
A2(satadd,"add.sat.s32",int,"r",int,"r",int,"r") A2(satsub,"sub.sat.s32",int,"r",int,"r",int,"r")
D int isspace(const void*p){return __isShared(p)+2*__isLocal(p)+4*__isConstant(p)+8*__isGlobal(p);}
A3(slct,"slct.s32.f32",int,"r",int,"r",int,"r",float,"f")
D int shfl(int a,int b){return __shfl_sync(~0u,a,b)+__shfl_up_sync(~0u,a,3)+__shfl_down_sync(~0u,a,3,8)+__shfl_xor_sync(~0u,a,5);}
D float sincosf_(float f){float s,c;sincosf(f,&s,&c);return s+c;} D float frexp_(float f){int e;return frexpf(f,&e)+e;}
A2(add_ftz,"add.ftz.f32",float,"f",float,"f",float,"f") A2(mul_ftz,"mul.ftz.f32",float,"f",float,"f",float,"f") A3(fma_ftz,"fma.rn.ftz.f32",float,"f",float,"f",float,"f",float,"f") A2(min_ftz,"min.ftz.f32",float,"f",float,"f",float,"f")
#if __CUDA_ARCH__>=800
A2(max_nan,"max.NaN.f32",float,"f",float,"f",float,"f") A2(min_nan,"min.NaN.f32",float,"f",float,"f",float,"f")
#endif
#if __CUDA_ARCH__>=860
A2(minxs,"min.xorsign.abs.f32",float,"f",float,"f",float,"f") A2(minxsn,"min.NaN.xorsign.abs.f32",float,"f",float,"f",float,"f")
#endif
#if __CUDA_ARCH__>=1000
A3(min3nan,"min.NaN.f32",float,"f",float,"f",float,"f",float,"f")
D ull pk(float a,float b){ull r;asm("mov.b64 %0,{%1,%2};":"=l"(r):"f"(a),"f"(b));return r;}
D ull add2(float f,float g,float h){ull r;asm("add.rn.f32x2 %0,%1,%2;":"=l"(r):"l"(pk(f,g)),"l"(pk(h,f)));return r;}
D ull mul2(float f,float g){ull r;asm("mul.rz.ftz.f32x2 %0,%1,%2;":"=l"(r):"l"(pk(f,g)),"l"(pk(g,f)));return r;}
D ull fma2(float f,float g,float h){ull r;asm("fma.rn.f32x2 %0,%1,%2,%3;":"=l"(r):"l"(pk(f,g)),"l"(pk(g,h)),"l"(pk(h,f)));return r;}
D ull fma2rz(float f,float g,float h){ull r;asm("fma.rz.f32x2 %0,%1,%2,%3;":"=l"(r):"l"(pk(f,g)),"l"(pk(g,g)),"l"(pk(h,f)));return r;}
#endif
A1(rcp_approx,"rcp.approx.f32",float,"f",float,"f") A1(sqrt_approx,"sqrt.approx.f32",float,"f",float,"f") A1(rsq_ftz,"rsqrt.approx.ftz.f32",float,"f",float,"f")
D int lt_ftz(float f,float g){int r;asm("{.reg .pred p;setp.ltu.ftz.f32 p,%1,%2;selp.s32 %0,1,0,p;}":"=r"(r):"f"(f),"f"(g));return r;}
D int testp(float f){int r;asm("{.reg .pred p,q,s,t;testp.finite.f32 p,%1;testp.subnormal.f32 q,%1;testp.normal.f32 s,%1;selp.s32 %0,1,0,p;@q add.s32 %0,%0,2;@s add.s32 %0,%0,4;}":"=r"(r):"f"(f));return r;}
A2(setf,"set.lt.f32.f32",float,"f",float,"f",float,"f") A2(setu,"set.geu.u32.f32",unsigned,"r",float,"f",float,"f")
D int cvt_s8(float f){int r;asm("cvt.rni.s8.f32 %0,%1;":"=r"(r):"f"(f));return r;} D int cvt_u8(float f){int r;asm("cvt.rpi.u8.f32 %0,%1;":"=r"(r):"f"(f));return r;}
D short cvt_s16(float f){short r;asm("cvt.rmi.s16.f32 %0,%1;":"=h"(r):"f"(f));return r;} D unsigned short cvt_u16(float f){unsigned short r;asm("cvt.rzi.u16.f32 %0,%1;":"=h"(r):"f"(f));return r;}
D int cvt_s8d(double f){int r;asm("cvt.rni.s8.f64 %0,%1;":"=r"(r):"d"(f));return r;} D unsigned short cvt_u16d(double f){unsigned short r;asm("cvt.rzi.u16.f64 %0,%1;":"=h"(r):"d"(f));return r;}
A1(cvt_ftz,"cvt.rzi.ftz.s32.f32",int,"r",float,"f") A1(cvtsat,"cvt.sat.f32.f32",float,"f",float,"f")
#if __CUDA_ARCH__>=800
A1(tf32rna,"cvt.rna.tf32.f32",unsigned,"r",float,"f")
#endif
#if __CUDA_ARCH__>=900
A1(tf32,"cvt.rn.tf32.f32",unsigned,"r",float,"f")
#endif
D unsigned h2u(__half2 s){return *(unsigned*)&s;} D unsigned b2u(__nv_bfloat162 s){return *(unsigned*)&s;}
#define H3(n,p) D unsigned n(__half2 x,__half2 y,__half2 z){unsigned r;asm(p " %0,%1,%2,%3;":"=r"(r):"r"(h2u(x)),"r"(h2u(y)),"r"(h2u(z)));return r;}
#define H2_(n,p) D unsigned n(__half2 x,__half2 y){unsigned r;asm(p " %0,%1,%2;":"=r"(r):"r"(h2u(x)),"r"(h2u(y)));return r;}
H3(fma_ftz2,"fma.rn.ftz.f16x2") H2_(mul_ftz2,"mul.ftz.f16x2") H2_(add_ftz2,"add.ftz.f16x2")
D unsigned hmin3(__half2 s,__half2 t,__half2 q){__half2 r=__hmin2(__hmin2(s,t),q);return h2u(r);}
D unsigned tanh_f16x2(__half2 x){unsigned r;asm("tanh.approx.f16x2 %0,%1;":"=r"(r):"r"(h2u(x)));return r;} D unsigned ex2_f16x2(__half2 x){unsigned r;asm("ex2.approx.f16x2 %0,%1;":"=r"(r):"r"(h2u(x)));return r;}
D float fma_f32h(__half2 s,__half2 t,float f){return __low2float(s)*__high2float(t)+f;}
#if __CUDA_ARCH__>=860
H2_(min_xorsign,"min.xorsign.abs.f16x2")
#endif
#if __CUDA_ARCH__>=800
H3(fma_relu,"fma.rn.relu.f16x2")
A2(cvt_half_rz2,"cvt.rz.f16x2.f32",unsigned,"r",float,"f",float,"f") A2(cvt_relu,"cvt.rn.relu.f16x2.f32",unsigned,"r",float,"f",float,"f")
A2(cvt_bf_rz2,"cvt.rz.bf16x2.f32",unsigned,"r",float,"f",float,"f") A2(cvt_bf_relu,"cvt.rn.relu.bf16x2.f32",unsigned,"r",float,"f",float,"f")
#endif
D unsigned short cvt_half_sat(float f){unsigned short r;asm("cvt.rn.sat.f16.f32 %0,%1;":"=h"(r):"f"(f));return r;}
#if __CUDA_ARCH__>=900
D unsigned tanh_bf16x2(__nv_bfloat162 x){unsigned r;asm("tanh.approx.bf16x2 %0,%1;":"=r"(r):"r"(b2u(x)));return r;} D unsigned ex2_bf16x2(__nv_bfloat162 x){unsigned r;asm("ex2.approx.ftz.bf16x2 %0,%1;":"=r"(r):"r"(b2u(x)));return r;}
#endif
#if __CUDA_ARCH__>=890
#define C8(n,p) D unsigned short n(float f,float g){unsigned short r;asm(p " %0,%1,%2;":"=h"(r):"f"(f),"f"(g));return r;}
C8(e4m3x2,"cvt.rn.satfinite.e4m3x2.f32") C8(e5m2x2,"cvt.rn.satfinite.e5m2x2.f32") C8(e4m3x2_relu,"cvt.rn.satfinite.relu.e4m3x2.f32")
D unsigned short e4m3_h2(__half2 x){unsigned short r;asm("cvt.rn.satfinite.e4m3x2.f16x2 %0,%1;":"=h"(r):"r"(h2u(x)));return r;} D unsigned short e5m2_h2(__half2 x){unsigned short r;asm("cvt.rn.satfinite.e5m2x2.f16x2 %0,%1;":"=h"(r):"r"(h2u(x)));return r;}
D unsigned h2_e4m3(unsigned u){unsigned r;asm("cvt.rn.f16x2.e4m3x2 %0,%1;":"=r"(r):"h"((unsigned short)u));return r;} D unsigned h2_e5m2(unsigned u){unsigned r;asm("cvt.rn.f16x2.e5m2x2 %0,%1;":"=r"(r):"h"((unsigned short)(u>>8)));return r;}
#endif
D ull bits(long x){return x;} D ull bits(float2 x){return bits(x.x)|bits(x.y)<<32;} D ull both(double x,double y){return bits(x)^bits(y)*3;} D ull both(float x,float y){return bits(x)|bits(y)<<32;} D unsigned raw2(__half2_raw x){return x.x|x.y<<16;}
D int __vibmin_s32_(int a,int b){bool p;int r=__vibmin_s32(a,b,&p);return p?r:~r;} D unsigned __vibmax_u32_(unsigned a,unsigned b){bool p;unsigned r=__vibmax_u32(a,b,&p);return p?r:~r;}
D unsigned __vibmin_s16x2_(unsigned a,unsigned b){bool p,q;unsigned r=__vibmin_s16x2(a,b,&p,&q);return r+2*p+q;} D unsigned __vibmax_u16x2_(unsigned a,unsigned b){bool p,q;unsigned r=__vibmax_u16x2(a,b,&p,&q);return r+2*p+q;}
D ull wide(int a,int b,int c){__int128 r=(__int128)a*b*c*((ull)b<<7);return (ull)(r>>64)^(ull)r;} D ull wide_quotient(long long l,long long m,int a){__int128 n=((__int128)l<<64)|m,d=a|1;return (ull)(n/d)^(ull)(n%d)*3;}
D ull wide_shift(ull y,ull z,int a){unsigned __int128 n=((unsigned __int128)y<<64)|z;return (ull)(n>>(a&127))^(ull)((n<<(a&127))>>64);} D ull wide_float(ull y,ull z){unsigned __int128 n=((unsigned __int128)y<<64)|z;return both((double)n,(double)(__int128)n)^bits((float)n);}
D ull sincos_(double x){double s,c;sincos(x,&s,&c);return both(s,c);} D ull sincospi_(double x){double s,c;sincospi(x,&s,&c);return both(s,c);} D ull sincospif_(float x){float s,c;sincospif(x,&s,&c);return both(s,c);} D ull fast_sincos(float x){float s,c;__sincosf(x,&s,&c);return both(s,c);}
D ull frexp_d(double x){int e;double r=frexp(x,&e);return bits(r)^(ull)e;} D ull modf_(double x){double w,r=modf(x,&w);return both(r,w);} D ull modff_(float x){float w,r=modff(x,&w);return both(r,w);}
D ull remquo_(double x,double y){int q;double r=remquo(x,y,&q);return bits(r)^(ull)(q&7);} D ull remquof_(float x,float y){int q;float r=remquof(x,y,&q);return bits(r)|(ull)(q&7)<<32;}
D double length(double a,double b,double c){double v[3]={a,b,c};return norm(3,v);} D double rlength(double a,double b,double c){double v[3]={a,b,c};return rnorm(3,v);} D float lengthf(float a,float b,float c){float v[3]={a,b,c};return normf(3,v);} D float rlengthf(float a,float b,float c){float v[3]={a,b,c};return rnormf(3,v);}
D float division(float f,float g,float h){return f/g/h;}
#define VARS(X) const ull* X=in+16*(blockIdx.x*blockDim.x+threadIdx.x); int a=X[0],b=X[1],c=X[2]; unsigned u=a,v=b,w=c; long long l=X[3],m=X[4]; ull y=l,z=m; float f=__uint_as_float(X[5]),g=__uint_as_float(X[6]),h=__uint_as_float(X[7]); double d=__longlong_as_double(X[8]),e=__longlong_as_double(X[9]),x=__longlong_as_double(X[10]); unsigned _s=X[11],_t=X[12],_q=X[13]; __half2 s=*(__half2*)&_s,t=*(__half2*)&_t,q=*(__half2*)&_q; __nv_bfloat162 o=*(__nv_bfloat162*)&_s,i2=*(__nv_bfloat162*)&_t,k=*(__nv_bfloat162*)&_q; bool p=X[14];
