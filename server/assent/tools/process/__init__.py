"""Processes that tools start: the supervisor, jobs, their environment and the fence around them."""
