/* Theory of operation: glue, in the caller, for tests only: shows what the walk wrote down, and
 * asks the second opinion about facts that the test collected itself. Judges nothing. The GIL is
 * released while a source is walked; the argument tuple keeps its bytes alive. */
#define PY_SSIZE_T_CLEAN
#include "py_guard_view.h"

#include <string.h>

#include "confirm.h"
#include "engine.h"
#include "guard_config.h"
#include "py_checked.h"
#include "py_guard.h"
#include "witness.h"

/* Room for the largest file of a standard library, and for its deepest. */
enum {
    VIEW_BYTES = 64 << 20,
    VIEW_NODES = 64 << 20,
    VIEW_DEPTH = 2000,
    VIEW_TIME_MS = 600000,
};

static int
witnessed(const char *bytes, size_t len, struct csb_witness *witness)
{
    static const char *const nothing[] = {"CSB0"};
    const struct csb_guard_config_spec spec = {
        .profile = "view",
        .select = {nothing, 1},
        .limits = {.max_source_bytes = VIEW_BYTES,
                   .max_nodes = VIEW_NODES,
                   .max_depth = VIEW_DEPTH,
                   .max_findings_per_rule = 1,
                   .max_time_ms = VIEW_TIME_MS},
    };
    struct csb_guard_config *config = NULL;
    struct csb_grammar grammar;
    struct csb_findings findings;
    struct csb_error error = {0};
    int r = csb_grammar_init(&grammar, &error);
    if (r < 0) {
        return r;
    }
    r = csb_guard_config_new(&config, &spec, &error);
    if (r < 0) {
        return r;
    }
    r = csb_check_witnessed(config, &grammar, bytes, len, witness, &findings, &error);
    if (r == 0) {
        csb_findings_done(&findings);
        r = witness->entries.failed ? -1 : 0;
    }
    csb_guard_config_free(config);
    return r;
}

/* New dict kind -> list of str. */
static PyObject *
lists(const struct csb_witness *witness)
{
    static const char *const keys[CSB_WITNESS_KINDS] = {
        "imports", "attributes", "calls", "names", "strings", "prefixes"};
    PyObject *lists[CSB_WITNESS_KINDS] = {NULL};
    PyObject *dict = PyDict_New();
    const char *at = witness->entries.bytes;
    const char *end = at + witness->entries.len;
    int r = dict == NULL ? -1 : 0;
    for (int i = 0; r == 0 && i < CSB_WITNESS_KINDS; i++) {
        lists[i] = PyList_New(0);
        r = lists[i] == NULL ? -1 : PyDict_SetItemString(dict, keys[i], lists[i]);
    }
    while (r == 0 && at != end) {
        struct csb_witness_entry entry;
        PyObject *text;
        memcpy(&entry, at, sizeof entry);
        text = PyUnicode_Decode(at + sizeof entry, (Py_ssize_t)entry.length, "utf-8",
                                "surrogatepass");
        r = text == NULL ? -1 : PyList_Append(lists[entry.kind], text);
        Py_XDECREF(text);
        at += sizeof entry + entry.length;
    }
    for (int i = 0; i < CSB_WITNESS_KINDS; i++) {
        Py_XDECREF(lists[i]);
    }
    if (r < 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

PyObject *
csb_py_view(PyObject *module, PyObject *args)
{
    PyObject *source;
    PyObject *result;
    struct csb_witness witness = {0};
    PyThreadState *thread;
    char *bytes;
    Py_ssize_t len;
    int r;
    (void)module; /* functions of a module get it whether they need it or not */
    if (!PyArg_ParseTuple(args, "S:view", &source) ||
        PyBytes_AsStringAndSize(source, &bytes, &len) < 0) {
        return NULL;
    }
    thread = PyEval_SaveThread();
    r = witnessed(bytes, (size_t)len, &witness);
    PyEval_RestoreThread(thread);
    result = r < 0 ? PyErr_NoMemory() : lists(&witness);
    csb_witness_done(&witness);
    return result;
}

PyObject *
csb_py_compare(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    PyObject *facts;
    struct csb_py_opinion opinion = {0};
    PyObject *result = NULL;
    char *bytes;
    Py_ssize_t len;
    (void)module; /* functions of a module get it whether they need it or not */
    if (!PyArg_ParseTuple(args, "OS:compare", &capsule, &facts) ||
        PyBytes_AsStringAndSize(facts, &bytes, &len) < 0 ||
        csb_py_opinion_init(&opinion, capsule) < 0) {
        return NULL;
    }
    if (csb_diags_blocking(&opinion.findings.diags) &&
        !csb_confirm_may_help(&opinion.findings)) {
        PyErr_SetString(PyExc_ValueError, "a second opinion can not help this source");
    } else {
        (void)csb_py_opinion_agrees(&opinion, (const unsigned char *)bytes,
                                    (size_t)len);
        result = opinion.failed ? PyErr_NoMemory()
                                : csb_py_diagnostics(&opinion.findings.diags);
    }
    csb_py_opinion_done(&opinion);
    return result;
}
