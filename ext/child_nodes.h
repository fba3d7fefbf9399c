/* Linked lists and binary trees from lists, and back, as LeetCode's problems have them.
 * In the child; glue.
 *
 *   "ListNode"        [1, 2, 3] ↔ nodes with .val and .next; [] and None ↔ None
 *   "TreeNode"        [1, null, 2, 3] in level order ↔ nodes with .val, .left, .right
 *   "list[ListNode]", "list[TreeNode]"   a list of those
 *
 * A class of that name in the submission is used when there is one; it needs to take the
 * value as its first argument. */
#ifndef CSB_CHILD_NODES_H
#define CSB_CHILD_NODES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Define both classes in the globals of a submission that is about to be executed: on
 * LeetCode they are there without being defined. Returns 0 or -1 with an exception. */
int csb_child_add_nodes(PyObject *globals);

/* The same ahead of need, in a zygote: a new dict with both, or NULL with an exception; and what
 * its children do with it. */
PyObject *csb_child_make_nodes(void);
int csb_child_give_nodes(PyObject *made, PyObject *globals);

/* New reference, NULL with an exception: ValueError when there is no adapter of that name or
 * the value has not its shape. */
PyObject *csb_child_to_nodes(PyObject *globals, PyObject *value, const char *adapter);

/* The other way. At most `most` nodes, so that a circle ends: ValueError beyond. */
PyObject *csb_child_from_nodes(PyObject *value, const char *adapter, uint64_t most);

#endif
