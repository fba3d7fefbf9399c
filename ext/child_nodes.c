/* Theory of operation: in the child, around a call of untrusted code. Attributes of nodes are
 * read by name, so classes of the submission work; what they answer is the submission's own
 * affair. Iterative: a list of a million nodes is no recursion. */
#include "child_nodes.h"

#include "csb.h"

#include <string.h>

static const char definitions[] =
    "class ListNode:\n"
    "    def __init__(self, val=0, next=None):\n"
    "        self.val = val\n"
    "        self.next = next\n"
    "class TreeNode:\n"
    "    def __init__(self, val=0, left=None, right=None):\n"
    "        self.val = val\n"
    "        self.left = left\n"
    "        self.right = right\n";

int
csb_child_add_nodes(PyObject *globals)
{
    PyObject *code = Py_CompileString(definitions, "<nodes>", Py_file_input);
    PyObject *result = code == NULL ? NULL : PyEval_EvalCode(code, globals, globals);
    Py_XDECREF(code);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

PyObject *
csb_child_make_nodes(void)
{
    PyObject *names = Py_BuildValue("{s:s}", "__name__", "__main__");
    if (names != NULL &&
        (PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()) < 0 ||
         csb_child_add_nodes(names) < 0)) {
        Py_CLEAR(names);
    }
    return names;
}

int
csb_child_give_nodes(PyObject *made, PyObject *globals)
{
    static const char *const names[] = {"ListNode", "TreeNode"};
    int result = 0;
    for (size_t i = 0; result == 0 && i < CSB_ARRAY_LEN(names); i++) {
        PyObject *type = PyDict_GetItemString(made, names[i]); /* borrowed */
        result = type == NULL ? -1 : PyDict_SetItemString(globals, names[i], type);
    }
    return result;
}

/* The class of that name, the submission's if it has one; new reference. */
static PyObject *
find_class(PyObject *globals, const char *name)
{
    PyObject *found = PyDict_GetItemString(globals, name); /* borrowed */
    if (found == NULL) {
        if (csb_child_add_nodes(globals) < 0) {
            return NULL;
        }
        found = PyDict_GetItemString(globals, name);
    }
    Py_XINCREF(found);
    return found;
}

static PyObject *
make_node(PyObject *type, PyObject *value)
{
    return PyObject_CallFunctionObjArgs(type, value, NULL);
}

static PyObject *
to_linked_list(PyObject *type, PyObject *values)
{
    PyObject *head = Py_NewRef(Py_None);
    for (Py_ssize_t i = PyList_Size(values) - 1; i >= 0; i--) {
        PyObject *node = make_node(type, PyList_GetItem(values, i));
        if (node == NULL || PyObject_SetAttrString(node, "next", head) < 0) {
            Py_XDECREF(node);
            Py_DECREF(head);
            return NULL;
        }
        Py_DECREF(head);
        head = node;
    }
    return head;
}

/* Hang the node for values[at] under its parent; `queue` holds the nodes made, in order. */
static int
hang(PyObject *type, PyObject *queue, PyObject *parent, const char *side,
     PyObject *value)
{
    PyObject *node = value == Py_None ? Py_NewRef(Py_None) : make_node(type, value);
    int result =
        node == NULL || PyObject_SetAttrString(parent, side, node) < 0 ? -1 : 0;
    if (result == 0 && node != Py_None) {
        result = PyList_Append(queue, node);
    }
    Py_XDECREF(node);
    return result;
}

static PyObject *
to_tree(PyObject *type, PyObject *values)
{
    Py_ssize_t count = PyList_Size(values);
    PyObject *queue = PyList_New(0);
    PyObject *root = NULL;
    Py_ssize_t at = 1;
    int result = queue == NULL ? -1 : 0;
    if (result == 0 && (count == 0 || PyList_GetItem(values, 0) == Py_None)) {
        Py_DECREF(queue);
        return Py_NewRef(Py_None);
    }
    if (result == 0) {
        root = make_node(type, PyList_GetItem(values, 0));
        result = root == NULL ? -1 : PyList_Append(queue, root);
    }
    for (Py_ssize_t i = 0; result == 0 && at < count; i++) {
        PyObject *parent;
        if (i >= PyList_Size(queue)) {
            PyErr_SetString(PyExc_ValueError,
                            "TreeNode: values behind the last node of the tree");
            result = -1;
            break;
        }
        parent = PyList_GetItem(queue, i); /* borrowed */
        result = hang(type, queue, parent, "left", PyList_GetItem(values, at++));
        if (result == 0) {
            result = hang(type, queue, parent, "right",
                          at < count ? PyList_GetItem(values, at) : Py_None);
            at++;
        }
    }
    Py_XDECREF(queue);
    if (result < 0) {
        Py_CLEAR(root);
    }
    return root;
}

static PyObject *
to_one(PyObject *globals, PyObject *value, const char *name)
{
    PyObject *type;
    PyObject *result;
    if (value == Py_None) {
        return Py_NewRef(Py_None);
    }
    if (!PyList_CheckExact(value)) {
        PyErr_Format(PyExc_ValueError, "%s: expected a list or None", name);
        return NULL;
    }
    type = find_class(globals, name);
    if (type == NULL) {
        return NULL;
    }
    result = strcmp(name, "ListNode") == 0 ? to_linked_list(type, value)
                                           : to_tree(type, value);
    Py_DECREF(type);
    return result;
}

/* values, None in the place of a missing child, without those at the end. */
static PyObject *
from_tree(PyObject *root, uint64_t most)
{
    static const char *const sides[] = {"left", "right"};
    PyObject *queue = PyList_New(0);
    PyObject *values = PyList_New(0);
    int result = queue == NULL || values == NULL ? -1 : PyList_Append(queue, root);
    for (Py_ssize_t i = 0; result == 0 && i < PyList_Size(queue); i++) {
        PyObject *node = PyList_GetItem(queue, i); /* borrowed */
        PyObject *value;
        if (node == Py_None) {
            result = PyList_Append(values, Py_None);
            continue;
        }
        if ((uint64_t)PyList_Size(queue) > 2 * most + 1) {
            PyErr_SetString(PyExc_ValueError,
                            "TreeNode: too many nodes, or a circle of nodes");
            result = -1;
            break;
        }
        value = PyObject_GetAttrString(node, "val");
        result = value == NULL ? -1 : PyList_Append(values, value);
        Py_XDECREF(value);
        for (size_t side = 0; result == 0 && side < CSB_ARRAY_LEN(sides); side++) {
            PyObject *child = PyObject_GetAttrString(node, sides[side]);
            result = child == NULL ? -1 : PyList_Append(queue, child);
            Py_XDECREF(child);
        }
    }
    Py_XDECREF(queue);
    while (result == 0 && PyList_Size(values) > 0 &&
           PyList_GetItem(values, PyList_Size(values) - 1) == Py_None) {
        Py_ssize_t size = PyList_Size(values);
        result = PyList_SetSlice(values, size - 1, size, NULL);
    }
    if (result < 0) {
        Py_CLEAR(values);
    }
    return values;
}

static PyObject *
from_linked_list(PyObject *head, uint64_t most)
{
    PyObject *values = PyList_New(0);
    PyObject *node = Py_NewRef(head);
    int result = values == NULL ? -1 : 0;
    while (result == 0 && node != Py_None) {
        PyObject *value = PyObject_GetAttrString(node, "val");
        PyObject *next = value == NULL ? NULL : PyObject_GetAttrString(node, "next");
        result = next == NULL ? -1 : PyList_Append(values, value);
        Py_XDECREF(value);
        Py_DECREF(node);
        node = next == NULL ? Py_NewRef(Py_None) : next;
        if (result == 0 && (uint64_t)PyList_Size(values) > most) {
            PyErr_SetString(PyExc_ValueError,
                            "ListNode: too many nodes, or a circle of nodes");
            result = -1;
        }
    }
    Py_DECREF(node);
    if (result < 0) {
        Py_CLEAR(values);
    }
    return values;
}

/* "list[X]" → X and true. NULL with ValueError when there is no such adapter. */
static const char *
element_of(const char *adapter, bool *ret_many)
{
    static const char *const names[] = {"ListNode", "TreeNode"};
    static const char *const plural[] = {"list[ListNode]", "list[TreeNode]"};
    for (size_t i = 0; i < CSB_ARRAY_LEN(names); i++) {
        *ret_many = strcmp(adapter, plural[i]) == 0;
        if (*ret_many || strcmp(adapter, names[i]) == 0) {
            return names[i];
        }
    }
    PyErr_Format(PyExc_ValueError, "no adapter '%s'", adapter);
    return NULL;
}

struct direction {
    PyObject *globals; /* NULL: from nodes */
    uint64_t most;
};

static PyObject *
one(const struct direction *direction, PyObject *value, const char *name)
{
    if (direction->globals != NULL) {
        return to_one(direction->globals, value, name);
    }
    return strcmp(name, "ListNode") == 0 ? from_linked_list(value, direction->most)
                                         : from_tree(value, direction->most);
}

static PyObject *
convert(const struct direction *direction, PyObject *value, const char *adapter)
{
    bool many;
    const char *name = element_of(adapter, &many);
    PyObject *list;
    if (name == NULL || !many) {
        return name == NULL ? NULL : one(direction, value, name);
    }
    if (!PyList_Check(value)) {
        PyErr_Format(PyExc_ValueError, "%s: expected a list", adapter);
        return NULL;
    }
    list = PyList_New(0);
    for (Py_ssize_t i = 0; list != NULL && i < PyList_Size(value); i++) {
        PyObject *item = Py_NewRef(PyList_GetItem(value, i));
        PyObject *made = one(direction, item, name);
        if (made == NULL || PyList_Append(list, made) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(made);
        Py_DECREF(item);
    }
    return list;
}

PyObject *
csb_child_to_nodes(PyObject *globals, PyObject *value, const char *adapter)
{
    const struct direction direction = {.globals = globals};
    return convert(&direction, value, adapter);
}

PyObject *
csb_child_from_nodes(PyObject *value, const char *adapter, uint64_t most)
{
    const struct direction direction = {.most = most};
    return convert(&direction, value, adapter);
}
