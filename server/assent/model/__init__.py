"""One Messages stream: client, retry, decoding, cache marks, prices; and the offline stand-in."""
