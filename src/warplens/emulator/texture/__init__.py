"""Textures and surfaces: how coordinates become texels, and texels results, as machine code of this host.

texel_addressing.py: coordinates to texels; mipmap_level.py: the level; texel_reads.py, texel_formats.py: texels to
numbers; texel_filter.py: their weights and sums; fetch_request.py, texture_fetch.py and surface_address.py: one warp's
instruction; texture_binding.py: descriptors and machine code for a launch.
"""
