"""Chat documents: `*.assent.md` files as conversations, for any editor."""
