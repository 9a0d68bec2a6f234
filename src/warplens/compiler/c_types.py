"""C++ types: their element types in launch blocks, f32 for float."""

from __future__ import annotations

TYPES = {
    "float": "f32", "double": "f64", "int": "i32", "unsigned": "u32", "unsigned int": "u32", "uint": "u32",
    "char": "i8", "signed char": "i8", "unsigned char": "u8", "uchar": "u8", "bool": "u8", "short": "i16",
    "unsigned short": "u16", "ushort": "u16", "long": "i64", "long int": "i64", "long long": "i64",
    "long long int": "i64", "unsigned long": "u64", "unsigned long long": "u64", "unsigned long long int": "u64",
    "size_t": "u64", "half": "f16", "__half": "f16", "__nv_bfloat16": "bf16", "nv_bfloat16": "bf16",
    "half2": "f16x2", "__half2": "f16x2", "__nv_bfloat162": "bf16x2", "cuFloatComplex": "f32x2", "cuComplex": "f32x2",
    "cuDoubleComplex": "f64x2",
}  # fmt: skip
TYPES |= {f"{'u' if s == 'u' else ''}int{bits}_t": f"{s}{bits}" for s in "iu" for bits in (8, 16, 32, 64)}
VECTORS = ("float", "f32", "double", "f64", "int", "i32", "uint", "u32", "uchar", "u8", "char", "i8")
TYPES |= {f"{c}{k}": f"{short}x{k}" for c, short in zip(VECTORS[::2], VECTORS[1::2], strict=True) for k in (2, 3, 4)}
