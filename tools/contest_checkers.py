"""How the contest tasks of the sample are judged where one expected text is not the only answer,
and which of their inputs the statements allow.

The sample's generated tests are mutations of the public ones; what a task's author never promised
(a hint "oN", a column 0, fewer numbers than announced) is answered by whatever one program did.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from csandbox import Answer


def _given(answer: Answer) -> list[list[str]]:
    return [line.split() for line in str(answer.stdin).splitlines()]


def divisor_of_each_pair(answer: Answer) -> bool | str:
    """1025_B: any number above 1 that divides one of each pair; -1 when there is none."""
    words = answer.stdout.split()
    if len(words) != 1 or not words[0].lstrip("-").isdigit() or len(words[0]) > 20:
        return "not one number"
    said, known = int(words[0]), int(str(answer.expected))
    if said == -1 or known == -1:
        return said == known
    numbers = list(map(int, str(answer.stdin).split()))[1:]
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return said > 1 and all(a % said == 0 or b % said == 0 for a, b in pairs)


def moves_of_presents(answer: Answer) -> bool | str:
    """1090_C: as many moves as known, each possible, and boxes that differ by one at most."""
    words = list(map(int, answer.stdout.split()))
    if words[:1] != [int(str(answer.expected).split()[0])] or len(words) != 1 + 3 * words[0]:
        return "another number of moves, or not so many lines"
    numbers = list(map(int, str(answer.stdin).split()))
    boxes: list[list[int]] = []
    at = 2
    for _ in range(numbers[0]):
        boxes.append(numbers[at + 1 : at + 1 + numbers[at]])
        at += 1 + numbers[at]
    for giver, taker, kind in zip(words[1::3], words[2::3], words[3::3], strict=True):
        if not (0 < giver <= len(boxes) and 0 < taker <= len(boxes)):
            return "no such box"
        if kind not in boxes[giver - 1]:
            return "the present is not there"
        boxes[giver - 1].remove(kind)
        boxes[taker - 1].append(kind)
    sizes = list(map(len, boxes))
    distinct = all(len(set(box)) == len(box) for box in boxes)
    return distinct and max(sizes) - min(sizes) <= 1


def tiles_of_paths(answer: Answer) -> bool | str:
    """1214_H: Yes or No as known; with Yes every path of k squares has k colors."""
    words = answer.stdout.split()
    known = str(answer.expected).split()[0].lower()  # the sample has Yes and YES
    said = answer.stdout.lower().split()
    if said[:1] != [known] or known == "no":
        return said == [known]
    numbers = list(map(int, str(answer.stdin).split()))
    n, k = numbers[:2]
    color = list(map(int, words[1:]))
    if len(color) != n or not all(1 <= c <= k for c in color):
        return "not a color from 1 to k for each"
    near: list[list[int]] = [[] for _ in range(n)]
    for a, b in zip(numbers[2 : 2 * n : 2], numbers[3 : 2 * n : 2], strict=True):
        near[a - 1].append(b - 1)
        near[b - 1].append(a - 1)
    for start in range(n):
        queue = deque([(start, -1, frozenset({color[start]}), 1)])
        while queue:
            node, before, seen, size = queue.popleft()
            if size == k:
                if len(seen) != k:
                    return "a path of k squares with a color twice"
                continue
            for other in near[node]:
                if other != before:
                    queue.append((other, node, seen | {color[other]}, size + 1))
    return True


def platforms_to_jump(answer: Answer) -> bool | str:
    """1256_C: YES or NO as known; with YES platforms in order, whole, and no gap too wide."""
    words = answer.stdout.split()
    known = str(answer.expected).split()[0]
    if words[:1] != [known] or known == "NO":
        return words == [known]
    numbers = list(map(int, str(answer.stdin).split()))
    n, m, d = numbers[:3]
    cells = list(map(int, words[1:]))
    wanted = [number for number, length in enumerate(numbers[3 : 3 + m], 1) for _ in range(length)]
    if len(cells) != n or [cell for cell in cells if cell] != wanted:
        return "other platforms, or another order"
    gap = 0
    for cell in cells:
        gap = 0 if cell else gap + 1
        if gap >= d:
            return "a gap that is too wide"
    places = {c: [i for i, x in enumerate(cells) if x == c] for c in set(cells) if c}
    whole = all(spots[-1] - spots[0] + 1 == len(spots) for spots in places.values())
    return whole or "a platform in two parts"


CHECKERS: dict[str, Callable[[Answer], bool | str]] = {
    "1025_B": divisor_of_each_pair,
    "1090_C": moves_of_presents,
    "1214_H": tiles_of_paths,
    "1256_C": platforms_to_jump,
}
#: Wrong programs that every test of the sample lets through, and what no test asks for.
UNNOTICED = {
    ("digjump", "wrong-2"): "never steps back (1567318943: 3 jumps); no test needs a step back",
}
#: Tasks whose statements allow an error of numbers.
COMPARISONS = {"1045_D": "float(rel=1e-4, abs=1e-4)"}


def _hints(text: str) -> bool:
    """a3: k hints, each one of three signs, a number from 1 and Yes or No."""
    words = text.split()
    at = 1
    for _ in range(int(words[0])):
        count = int(words[at])
        hints = words[at + 1 : at + 1 + 3 * count]
        at += 1 + 3 * count
        if count < 1 or len(hints) != 3 * count:
            return False
        if not set(hints[::3]) <= {"<", ">", "="} or not set(hints[2::3]) <= {"Yes", "No"}:
            return False
        if not all(word.isdigit() and 1 <= int(word) <= 10**9 for word in hints[1::3]):
            return False
    return at == len(words)


def _commands(text: str) -> bool:
    """chefbm: p places inside an n by m matrix."""
    numbers = list(map(int, text.split()))
    n, m, p = numbers[:3]
    places = list(zip(numbers[3::2], numbers[4::2], strict=True))
    return len(places) == p and all(1 <= i <= n and 1 <= j <= m for i, j in places)


def _permutation(text: str) -> bool:
    """1109_F: n rows of m numbers, each of 1 to nm once."""
    numbers = list(map(int, text.split()))
    count = numbers[0] * numbers[1]
    return sorted(numbers[2:]) == list(range(1, count + 1))


def _tree(text: str) -> bool:
    """1214_H: 2 <= k <= n and the footpaths of a tree."""
    numbers = list(map(int, text.split()))
    n, k = numbers[:2]
    ends = [number - 1 for number in numbers[2:]]
    parts = list(range(n))
    for a, b in zip(ends[::2], ends[1::2], strict=True):
        if not (0 <= a < n and 0 <= b < n) or parts[a] == parts[b]:
            return False
        parts = [parts[a] if part == parts[b] else part for part in parts]
    return 2 <= k <= n and len(ends) == 2 * (n - 1)


ALLOWED: dict[str, Callable[[str], bool]] = {
    "a3": _hints,
    "chefbm": _commands,
    "1109_F": _permutation,
    "1214_H": _tree,
}


def allowed(name: str, inputs: Sequence[str]) -> list[bool]:
    """For each input of a task whether its statement allows it, as far as that is looked at."""
    check = ALLOWED.get(name)
    if check is None:
        return [True] * len(inputs)
    return [_fine(check, text) for text in inputs]


def _fine(check: Callable[[str], bool], text: str) -> bool:
    try:
        return check(text)
    except (ValueError, IndexError):
        return False
