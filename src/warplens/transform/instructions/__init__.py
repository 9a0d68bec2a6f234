"""What the compiler makes of loops and arithmetic."""
