"""One streamed answer: its bytes as events, events as messages, and the watch over a stream that goes silent."""
