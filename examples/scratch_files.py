"""Write and read files in the private working folder, which is gone when the run is over."""

import csv
import tempfile
from pathlib import Path

with open("squares.csv", "w", newline="") as file:
    csv.writer(file).writerows((n, n * n) for n in range(100))
with open("squares.csv", newline="") as file:
    total = sum(int(square) for _, square in csv.reader(file))

with tempfile.TemporaryDirectory() as folder:
    Path(folder, "total.txt").write_text(str(total))
    print(Path(folder, "total.txt").read_text())
