"""Longest path in a tree of depth 20,000, in a thread with a large stack: a contest idiom."""

import sys
import threading

DEPTH = 20_000


def depth(node: int) -> int:
    """Each node has one child; the depth is found by recursion on purpose."""
    return 0 if node == DEPTH else 1 + depth(node + 1)


def main() -> None:
    """Print the depth of the root."""
    print(depth(0))


sys.setrecursionlimit(DEPTH + 1000)
threading.stack_size(64 * 1024 * 1024)
thread = threading.Thread(target=main)
thread.start()
thread.join()
