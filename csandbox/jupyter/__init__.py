"""Jupyter: the kernel ``csandbox``, and the magic ``%%csandbox`` for ordinary kernels.

``csandbox jupyter install`` puts the kernel beside the others, ``%load_ext csandbox`` gives the
magic. Both show what hostile code made only after `csandbox.jupyter.safe` took out what a browser
would execute: the page of a notebook can do what its user can do.
"""
