"""How a kernel accesses memory."""
