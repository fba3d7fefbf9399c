"""Hostile: reads the host's list of users."""

print("read", len(open("/etc/passwd").read()), "bytes of /etc/passwd")
