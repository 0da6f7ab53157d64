"""The ten steps. Pure: a request, rules and a mode in; Allow, Ask or Deny out."""
