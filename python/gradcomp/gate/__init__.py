"""The statistical gate: are the times, bytes and counts of one build those of another? docs/gate.md"""
