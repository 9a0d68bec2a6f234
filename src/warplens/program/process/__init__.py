"""Process: how the program is started and ended, and what its file and its libraries say of it."""
