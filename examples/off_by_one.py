"""An honest mistake: the last index is one too high."""

values = [3, 1, 2]
for index in range(len(values) + 1):
    print(values[index])
