/* Theory of operation: the extension `csandbox._core`, in the caller. Names the functions;
 * each lives in the py_*.c file of its subject. Multi-phase initialisation, a module state
 * (py_state.h), no static mutable data. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "py_compare.h"
#include "py_errand.h"
#include "py_guard.h"
#include "py_guard_view.h"
#include "py_head_start.h"
#include "py_janitor.h"
#include "py_policy.h"
#include "py_pool.h"
#include "py_probe.h"
#include "py_run.h"
#include "py_session.h"
#include "py_state.h"
#include "py_value.h"
#include "py_value_reply.h"

static PyMethodDef methods[] = {
    {"run", csb_py_run, METH_VARARGS,
     "run(policy, request, /)\n--\n\nRun one already checked source in a fresh child."},
    {"encode", csb_py_value_encode, METH_VARARGS,
     "encode(value, limits, /)\n--\n\nPlain data of exact types as CBOR."},
    {"decode", csb_py_value_decode, METH_VARARGS,
     "decode(data, limits, /)\n--\n\nWhat encode made; anything else is a ValueError."},
    {"open_reply", csb_py_value_open_reply, METH_VARARGS,
     "open_reply(data, limits, /)\n--\n\nWhat a child answered to one call."},
    {"compare_text", csb_py_compare_text, METH_VARARGS,
     "compare_text(kind, got, expected, options, /)\n--\n\nThe first difference, or None."},
    {"compare_value", csb_py_compare_value, METH_VARARGS,
     "compare_value(got, expected, options, limits, /)\n--\n\nThe first difference, or "
     "None."},
    {"compare_encoded", csb_py_compare_encoded, METH_VARARGS,
     "compare_encoded(got, expected, options, limits, /)\n--\n\nThe same for what encode "
     "made."},
    {"probe", csb_py_probe, METH_NOARGS,
     "probe()\n--\n\nWhat this kernel can enforce, layer by layer."},
    {"view", csb_py_view, METH_VARARGS,
     "view(source, /)\n--\n\nWhat the guard's walk sees of a source; for tests."},
    {"compare", csb_py_compare, METH_VARARGS,
     "compare(checked, facts, /)\n--\n\nThe second opinion on given facts; for tests."},
    {"removing", csb_py_removing, METH_NOARGS,
     "removing()\n--\n\nHow many folders are being removed in the background now."},
    {"build_info", csb_py_build_info, METH_NOARGS,
     "build_info()\n--\n\nVersions that this extension was built with."},
    {NULL, NULL, 0, NULL},
};

/* Pools, their threads and what they keep belong to one interpreter, and the state of a
 * process (fork handlers, its end) to the main one. */
static int
refuse_other_interpreters(void)
{
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) {
        return 0;
    }
    PyErr_SetString(
        PyExc_ImportError,
        "csandbox serves the main interpreter only, and this is a sub-interpreter; "
        "import it in the main one and call it from there");
    return -1;
}

static int
execute(PyObject *module)
{
    return refuse_other_interpreters() < 0 || csb_py_state_add(module) < 0 ||
                   csb_py_policy_add(module) < 0 || csb_py_guard_add(module) < 0 ||
                   csb_py_pool_add(module) < 0 || csb_py_head_start_add(module) < 0 ||
                   csb_py_errand_add(module) < 0 || csb_py_session_add(module) < 0 ||
                   csb_py_janitor_add(module) < 0
               ? -1
               : 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)execute},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_core",
    .m_doc = "The C core of csandbox. Private.",
    .m_size = sizeof(struct csb_py_state),
    .m_methods = methods,
    .m_slots = slots,
    .m_free = csb_py_state_free,
};

PyMODINIT_FUNC PyInit__core(void); /* for -Wmissing-prototypes */

PyMODINIT_FUNC
PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
