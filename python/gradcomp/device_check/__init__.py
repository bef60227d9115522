"""Everything that is to be known of a device, by one command: tools/device-check, docs/devices.md."""
