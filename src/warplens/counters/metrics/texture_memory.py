"""Textures and surfaces: instructions and requests.

Instructions are exact.  A request is a quad's, of one whole coordinate an octet's, as on an H200; of surfaces those of
one dimension are octets' too, which is not told apart here.  Sectors are those of the first texel of each lane, in rows
one behind the other; a GPU stores CUDA arrays in blocks, whose layout is not public, and reads more than one texel
where it interpolates.
"""

from __future__ import annotations

from warplens.counters.vocabulary import EXECUTED, REQUESTS, SECTORS, Formula, exact, modelled, opcode

TEXTURE = opcode("TEX", "TLD", "TLD4", "TXD", "TXQ", "TMML")
FETCH = opcode("TEX", "TLD", "TLD4", "TXD")
QUERY = opcode("TXQ")
QUADS = 8  # of a warp
SURFACE = {"ld": opcode("SULD"), "st": opcode("SUST"), "red": opcode("SURED")}

METRICS: tuple[Formula, ...] = (
    exact("smsp__inst_executed_op_texture.sum", "inst", EXECUTED[TEXTURE]),
    *(exact(f"smsp__inst_executed_op_surface_{op}.sum", "inst", EXECUTED[kind]) for op, kind in SURFACE.items()),
    modelled("l1tex__t_requests_pipe_tex_mem_texture.sum", "", REQUESTS[FETCH] + QUADS * EXECUTED[QUERY]),
    modelled("l1tex__t_sectors_pipe_tex_mem_texture.sum", "sector", SECTORS[FETCH]),
    *(
        modelled(f"l1tex__t_requests_pipe_tex_mem_surface_op_{op}.sum", "", QUADS * REQUESTS[kind])
        for op, kind in SURFACE.items()
    ),
    *(
        modelled(f"l1tex__t_sectors_pipe_tex_mem_surface_op_{op}.sum", "sector", SECTORS[kind])
        for op, kind in SURFACE.items()
    ),
)
