"""Most frequent words of a text on stdin: what a contest solution looks like."""

import sys
from collections import Counter

words = sys.stdin.read().lower().split()
for word, count in Counter(words).most_common(2):
    print(word, count)
