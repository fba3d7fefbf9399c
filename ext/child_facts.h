/* Collect the facts of facts.h from a code object. In the child; includes Python.h, glue. */
#ifndef CSB_CHILD_FACTS_H
#define CSB_CHILD_FACTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "facts.h"

struct csb_fact_list {
    unsigned char *bytes; /* owned */
    size_t count;
    size_t capacity;
};

/* Walk the code object and all nested ones, without recursion. Returns 0, or -1 with an
 * exception. */
int csb_child_collect(PyObject *code, struct csb_fact_list *ret);

void csb_fact_list_done(struct csb_fact_list *list);

#endif
