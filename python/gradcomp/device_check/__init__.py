"""Tests and measures everything on a device by one command: tools/device-check (docs/devices.md)."""
