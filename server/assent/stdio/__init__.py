"""The process at the end of two pipes: how it reads and writes without waiting, what it logs, when it ends."""
