"""Pages of the web as tools see them: addresses that may be fetched, and HTML as Markdown."""
