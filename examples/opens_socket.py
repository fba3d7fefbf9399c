"""Hostile: opens a network socket, as a first step to sending away what it has read."""

import socket

with socket.socket(socket.AF_INET, socket.SOCK_STREAM):
    print("got a socket")
