"""The statistical gate, which tells whether a build became slower or changed its bytes or counts: docs/gate.md"""
