"""Measurements: `make bench`, or `python -m bench`. What is measured stands in each module."""
