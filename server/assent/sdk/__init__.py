"""The Python SDK: `import assent`. A front onto sessions for programs; it knows nothing of LSP."""
