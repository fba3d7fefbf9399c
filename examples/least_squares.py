"""A straight line through noisy points with numpy."""

import numpy as np

rng = np.random.default_rng(7)
x = np.linspace(0, 10, 200)
y = 3 * x + 2 + rng.normal(0, 0.01, x.size)
slope, offset = np.polyfit(x, y, 1)
print(f"{slope:.1f} {offset:.1f}")
