"""Hostile: reads the host's list of users."""

with open("/etc/passwd") as file:
    print("read", len(file.read()), "bytes of /etc/passwd")
