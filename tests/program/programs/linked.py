"""A program that links two pieces of PTX at run time: a kernel, and the function that it calls."""

import ctypes
import sys

KERNEL = b"""
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 result) twice(.param .b32 x);
.visible .entry store(.param .u64 to) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [to];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, 21;
    {
        .param .b32 x;
        .param .b32 result;
        st.param.b32 [x], %r1;
        call.uni (result), twice, (x);
        ld.param.b32 %r2, [result];
    }
    st.global.u32 [%rd2], %r2;
    ret;
}
"""
FUNCTION = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .func (.param .b32 result) twice(.param .b32 x) {
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    shl.b32 %r2, %r1, 1;
    st.param.b32 [result], %r2;
    ret;
}
"""
PTX = 1
cuda = ctypes.CDLL("libcuda.so.1")
context, linker, image, module, kernel = (ctypes.c_void_p() for _ in range(5))
place, size = ctypes.c_ulonglong(), ctypes.c_size_t()


def checked(status: int) -> None:
    if status:
        print("failed", status)
        sys.exit()


pieces = [KERNEL] if "alone" in sys.argv else [KERNEL, FUNCTION]
checked(cuda.cuInit(0))
checked(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
checked(cuda.cuCtxSetCurrent(context))
checked(cuda.cuLinkCreate_v2(0, None, None, ctypes.byref(linker)))
for piece in pieces:
    checked(cuda.cuLinkAddData_v2(linker, PTX, piece, ctypes.c_size_t(len(piece) + 1), None, 0, None, None))
checked(cuda.cuLinkComplete(linker, ctypes.byref(image), ctypes.byref(size)))
checked(cuda.cuModuleLoadData(ctypes.byref(module), image))
checked(cuda.cuLinkDestroy(linker))
checked(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"store"))
checked(cuda.cuMemAlloc_v2(ctypes.byref(place), ctypes.c_size_t(4)))
values = (ctypes.c_void_p * 1)(ctypes.addressof(place))
checked(cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, values, None))
found = ctypes.c_int()
checked(cuda.cuMemcpyDtoH_v2(ctypes.byref(found), place, ctypes.c_size_t(4)))
print("stored", found.value)
