"""Questions to people: the gate of a call, asks, reviews, trust, and asks that outlived their process."""
