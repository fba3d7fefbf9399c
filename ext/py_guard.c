/* Theory of operation: converts Python's values to the guard's and back; no judgement of its own.
 * In the caller's process. The GIL is released while a source is checked: the bytes object is
 * kept alive by the argument tuple and cannot change. */
#define PY_SSIZE_T_CLEAN
#include "py_guard.h"

#include <string.h>

#include "engine.h"
#include "guard_config.h"
#include "py_checked.h"
#include "py_convert.h"
#include "py_guard_render.h"
#include "py_guard_spec.h"

struct guard_object {
    PyObject_HEAD struct csb_guard_config *config;
    struct csb_grammar grammar; /* constant once the object exists */
};

static void
guard_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    csb_guard_config_free(((struct guard_object *)self)->config);
    release(self);
    Py_DECREF(type);
}

static PyObject *
guard_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *mapping;
    PyObject *self;
    struct guard_object *guard;
    struct csb_error error = {0};
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    if (kwargs != NULL && PyDict_Size(kwargs) > 0) {
        PyErr_SetString(PyExc_TypeError, "Guard() takes no keyword arguments");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O:Guard", &mapping)) {
        return NULL;
    }
    self = allocate(type, 0);
    if (self == NULL) {
        return NULL;
    }
    guard = (struct guard_object *)self;
    if (csb_grammar_init(&guard->grammar, &error) < 0) {
        PyErr_Format(PyExc_ImportError, "csandbox was built with another grammar: %s",
                     error.message);
        Py_DECREF(self);
        return NULL;
    }
    if (csb_py_guard_config(mapping, &guard->config) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return self;
}

/* The type cannot be subclassed, so its deallocator identifies it. */
static struct guard_object *
as_guard(PyObject *object)
{
    if (PyType_GetSlot(Py_TYPE(object), Py_tp_dealloc) != (void *)guard_dealloc) {
        PyErr_Format(PyExc_TypeError, "expected a Guard, got %R",
                     (PyObject *)Py_TYPE(object));
        return NULL;
    }
    return (struct guard_object *)object;
}

/* Messages are cut at a byte count, perhaps within a character. */
static PyObject *
text(const char *string)
{
    string = string == NULL ? "" : string;
    return PyUnicode_DecodeUTF8(string, (Py_ssize_t)strlen(string), "replace");
}

static PyObject *
number(size_t value)
{
    return PyLong_FromSize_t(value);
}

static PyObject *
diagnostic_dict(const struct csb_diag *diag)
{
    const struct csb_rule_info *info = csb_rule_info(diag->rule);
    PyObject *dict = PyDict_New();
    bool second = diag->second != NULL;
    if (dict == NULL || csb_py_set(dict, "code", text(info->code)) < 0 ||
        csb_py_set(dict, "name", text(info->name)) < 0 ||
        csb_py_set(dict, "severity", text(csb_severity_name(diag->severity))) < 0 ||
        csb_py_set(dict, "message", text(diag->message)) < 0 ||
        csb_py_set(dict, "label", text(diag->label)) < 0 ||
        csb_py_set(dict, "help", text(diag->help)) < 0 ||
        csb_py_set(dict, "note", text(diag->note)) < 0 ||
        csb_py_set(dict, "line", number(diag->from.line)) < 0 ||
        csb_py_set(dict, "column", number(diag->from.column)) < 0 ||
        csb_py_set(dict, "end_line", number(diag->to.line)) < 0 ||
        csb_py_set(dict, "end_column", number(diag->to.column)) < 0 ||
        csb_py_set(dict, "start_byte", number(diag->start)) < 0 ||
        csb_py_set(dict, "end_byte", number(diag->end)) < 0 ||
        csb_py_set(dict, "second_label", text(diag->second)) < 0 ||
        csb_py_set(dict, "second_line", number(second ? diag->second_from.line : 0)) <
            0 ||
        csb_py_set(dict, "second_column",
                   number(second ? diag->second_from.column : 0)) < 0 ||
        csb_py_set(dict, "second_start_byte", number(second ? diag->second_start : 0)) <
            0 ||
        csb_py_set(dict, "second_end_byte", number(second ? diag->second_end : 0)) <
            0) {
        Py_XDECREF(dict);
        return NULL;
    }
    return dict;
}

/* Append and drop the item; on failure the list is dropped too and becomes NULL. */
static void
append(PyObject **list, PyObject *item)
{
    if (*list != NULL && (item == NULL || PyList_Append(*list, item) < 0)) {
        Py_CLEAR(*list);
    }
    Py_XDECREF(item);
}

PyObject *
csb_py_diagnostics(const struct csb_diags *diags)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < diags->len; i++) {
        append(&list, diagnostic_dict(&diags->items[i]));
    }
    return list;
}

static PyObject *
suppressed_dict(const struct csb_diags *diags)
{
    PyObject *dict = PyDict_New();
    for (int i = 0; dict != NULL && i < CSB_RULE_COUNT; i++) {
        if (diags->suppressed[i] > 0 &&
            csb_py_set(dict, csb_rule_info((enum csb_rule_id)i)->code,
                       number(diags->suppressed[i])) < 0) {
            Py_CLEAR(dict);
        }
    }
    return dict;
}

static PyObject *
findings_dict(const struct csb_findings *findings)
{
    const struct csb_source *source = &findings->source;
    /* What was cut off or cannot be decoded must never be taken for the program. */
    bool complete = source->invalid_utf8 == CSB_NOWHERE && !source->cut;
    PyObject *dict = PyDict_New();
    if (dict == NULL ||
        csb_py_set(dict, "ok", PyBool_FromLong(!csb_diags_blocking(&findings->diags))) <
            0 ||
        csb_py_set(dict, "diagnostics", csb_py_diagnostics(&findings->diags)) < 0 ||
        csb_py_set(dict, "source",
                   PyBytes_FromStringAndSize(
                       source->text, complete ? (Py_ssize_t)source->len : 0)) < 0 ||
        csb_py_set(dict, "suppressed", suppressed_dict(&findings->diags)) < 0) {
        Py_XDECREF(dict);
        return NULL;
    }
    return dict;
}

static PyObject *
py_check(PyObject *module, PyObject *args)
{
    PyObject *guard_arg;
    PyObject *source;
    PyObject
        *filename; /* not used here, but a wrong one should fail where it was given */
    struct guard_object *guard;
    struct csb_findings findings;
    struct csb_error error = {0};
    char *bytes;
    Py_ssize_t len;
    PyObject *result;
    PyObject *checked;
    PyThreadState *thread;
    int r;
    (void)module; /* functions of a module get it whether they need it or not */
    if (!PyArg_ParseTuple(args, "OSU:check", &guard_arg, &source, &filename)) {
        return NULL;
    }
    guard = as_guard(guard_arg);
    if (guard == NULL || PyBytes_AsStringAndSize(source, &bytes, &len) < 0) {
        return NULL;
    }
    thread = PyEval_SaveThread();
    r = csb_check_source(guard->config, &guard->grammar, bytes, (size_t)len, &findings,
                         &error);
    PyEval_RestoreThread(thread);
    if (r < 0) {
        return PyErr_NoMemory();
    }
    result = findings_dict(&findings);
    checked = csb_py_checked_new(guard_arg, guard->config, &findings);
    if (result != NULL && csb_py_set(result, "checked", checked) < 0) {
        Py_CLEAR(result);
    } else if (result == NULL) {
        Py_XDECREF(checked);
    }
    return result;
}

static PyObject *
py_render(PyObject *module, PyObject *args)
{
    PyObject *guard;
    PyObject *diagnostics;
    PyObject *source;
    PyObject *filename;
    int color;
    (void)module; /* functions of a module get it whether they need it or not */
    if (!PyArg_ParseTuple(args, "OOSUp:render", &guard, &diagnostics, &source,
                          &filename, &color) ||
        (guard != Py_None && as_guard(guard) == NULL)) {
        return NULL;
    }
    return csb_py_guard_render(diagnostics, source, filename, color != 0);
}

static PyObject *
rule_dict(enum csb_rule_id rule)
{
    const struct csb_rule_info *info = csb_rule_info(rule);
    PyObject *dict = PyDict_New();
    if (dict == NULL || csb_py_set(dict, "code", text(info->code)) < 0 ||
        csb_py_set(dict, "name", text(info->name)) < 0 ||
        csb_py_set(dict, "summary", text(info->summary)) < 0 ||
        csb_py_set(dict, "severity", text(csb_severity_name(info->severity))) < 0 ||
        csb_py_set(dict, "family", text(csb_family_name(info->family))) < 0 ||
        csb_py_set(dict, "selectable", PyBool_FromLong(info->selectable)) < 0) {
        Py_XDECREF(dict);
        return NULL;
    }
    return dict;
}

static PyObject *
py_rules(PyObject *module, PyObject *args)
{
    PyObject *list = PyList_New(0);
    (void)module; /* functions of a module get it whether they need it or not */
    (void)args;   /* there are none */
    for (int i = 0; list != NULL && i < CSB_RULE_COUNT; i++) {
        append(&list, rule_dict((enum csb_rule_id)i));
    }
    return list;
}

static PyMethodDef functions[] = {
    {"check", py_check, METH_VARARGS,
     "check(guard, source, filename, /)\n--\n\nCheck one source text."},
    {"render", py_render, METH_VARARGS,
     "render(guard, diagnostics, source, filename, color, /)\n--\n\n"
     "Findings as text for people."},
    {"rules", py_rules, METH_NOARGS, "rules()\n--\n\nAll rules, by code."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot guard_slots[] = {
    {Py_tp_new, (void *)guard_new},
    {Py_tp_dealloc, (void *)guard_dealloc},
    {Py_tp_doc, (void *)"One validated, immutable rule configuration."},
    {0, NULL},
};

static PyType_Spec guard_spec = {
    .name = "csandbox._core.Guard",
    .basicsize = sizeof(struct guard_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = guard_slots,
};

int
csb_py_guard_add(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &guard_spec, NULL);
    int r = type == NULL ? -1 : PyModule_AddObjectRef(module, "Guard", type);
    Py_XDECREF(type);
    return r < 0 ? -1 : PyModule_AddFunctions(module, functions);
}
