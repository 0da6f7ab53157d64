"""What other tools left on this machine and in this folder, and what of it can be taken over."""
