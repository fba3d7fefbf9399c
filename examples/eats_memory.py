"""Hostile: asks for memory until there is no more (stops at 4 GiB, for your machine's sake)."""

hoard = []
for _ in range(4096):
    hoard.append(bytearray(b"x" * (1 << 20)))
print("got", len(hoard), "MiB")
