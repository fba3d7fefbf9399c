"""Code of ours that runs inside a child, sent along as text; callers import nothing of it."""
