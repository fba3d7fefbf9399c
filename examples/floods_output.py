"""Hostile: writes more than anybody wants to keep (stops at 1 GiB)."""

line = "x" * 1023
for _ in range(1 << 20):
    print(line)
