"""The command line: one program, `assent`."""
