"""What clients see of a session: events, their numbers, snapshots on attach."""
