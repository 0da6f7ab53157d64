"""Model calls beside the conversation: the classifier, summaries of tool batches, memory notes, MCP sampling."""
