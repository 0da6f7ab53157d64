"""A shell line taken apart: words, statements, redirections, and a second reading that must agree with the first."""
