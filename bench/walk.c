/* The child's walk over code objects (ext/child_facts.c), for bench/walk.py to time in this
 * process: collect(code, repeats) gives the facts and the nanoseconds of CPU of one walk, which
 * includes making and freeing the list. The GIL is held. */
#include "child_facts.h"

#include <time.h>

PyObject *collect(PyObject *code, long repeats);

static long long
now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

PyObject *
collect(PyObject *code, long repeats)
{
    struct csb_fact_list list = {0};
    PyObject *result = NULL;
    long long began = now_ns();
    for (long i = 0; i < repeats; i++) {
        csb_fact_list_done(&list);
        if (csb_child_collect(code, &list) < 0) {
            csb_fact_list_done(&list);
            return NULL;
        }
    }
    result = Py_BuildValue("(y#d)", (const char *)list.bytes, (Py_ssize_t)list.count,
                           (double)(now_ns() - began) / (double)repeats);
    csb_fact_list_done(&list);
    return result;
}
