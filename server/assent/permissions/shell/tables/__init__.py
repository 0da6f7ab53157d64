"""Programs and their flags: which uses only read, which write, which run other programs."""
