"""A front onto sessions for editors that speak the Agent Client Protocol. The only importer of its library, acp."""
