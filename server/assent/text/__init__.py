"""Text itself: lines, positions, URIs, patterns, and characters a person can see. Pure; below every middle layer."""
