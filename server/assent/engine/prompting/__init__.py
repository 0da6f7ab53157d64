"""What the model is given: the system prompt, the user's input, attachments between steps, the list of tools."""
