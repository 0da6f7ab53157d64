"""What the engine knows of an editor: documents, proposals, rebase, diagnostics."""
