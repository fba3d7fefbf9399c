/* Theory of operation: glue, in the caller, after the child is dead. Only copies. */
#include "py_report.h"

#include "clock.h"
#include "py_convert.h"
#include "syscall_filter.h"

#include <stdlib.h>

static PyObject *
captured(const struct csb_capture *capture)
{
    size_t kept = csb_capture_kept(capture);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)kept);
    if (bytes != NULL) {
        csb_capture_copy(capture, (unsigned char *)PyBytes_AsString(bytes));
    }
    return bytes;
}

static PyObject *
seconds(int64_t ns)
{
    return PyFloat_FromDouble((double)ns / (double)CSB_NS_PER_S);
}

static PyObject *
optional_text(const char *text)
{
    if (text == NULL) {
        Py_RETURN_NONE;
    }
    return PyUnicode_FromString(text);
}

static PyObject *
optional_int(bool known, int value)
{
    if (!known) {
        Py_RETURN_NONE;
    }
    return PyLong_FromLong(value);
}

static PyObject *
isolation(const struct csb_policy *policy, uint32_t confirmed)
{
    PyObject *dict = PyDict_New();
    for (unsigned i = 0; dict != NULL && i < CSB_FEATURE_COUNT; i++) {
        const char *note = policy->notes[i];
        const char *state = note;
        if (!(confirmed & CSB_FEATURE_BIT(i))) {
            state = note[0] == 'd' || note[0] == 'o' ? note
                    : note[0] == 'e'                 ? "off: refused for this run"
                                                     : "off";
        } else if (note[0] == '\0') {
            state = "enforced";
        }
        if (csb_py_set(dict, csb_feature_name((enum csb_feature)i),
                       PyUnicode_FromString(state)) < 0) {
            Py_CLEAR(dict);
        }
    }
    return dict;
}

static PyObject *
violation(const struct csb_violation *seen)
{
    char *name = seen->others ? NULL : csb_seccomp_name(seen->number);
    PyObject *dict = NULL;
    PyObject *text = name != NULL   ? PyUnicode_FromString(name)
                     : seen->others ? PyUnicode_FromString("other")
                                    : PyUnicode_FromFormat("syscall_%d", seen->number);
    free(name);
    if (text != NULL) {
        dict = Py_BuildValue("{s:N,s:K}", "syscall", text, "count",
                             (unsigned long long)seen->count);
    }
    if (dict != NULL && !seen->others && seen->wanted.key != NULL &&
        csb_py_set(dict, seen->wanted.key, PyUnicode_FromString(seen->wanted.text)) <
            0) {
        Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *
violations(const struct csb_notify *notify)
{
    PyObject *list = PyList_New(0);
    for (unsigned i = 0; list != NULL && i < notify->violation_count; i++) {
        PyObject *item = violation(&notify->violations[i]);
        if (item == NULL || PyList_Append(list, item) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(item);
    }
    return list;
}

/* internal_error is the supervisor's own word; it says why. */
static PyObject *
internal_reason(const struct csb_facts *facts, enum csb_verdict verdict)
{
    if (verdict != CSB_INTERNAL_ERROR) {
        Py_RETURN_NONE;
    }
    return PyUnicode_FromString(
        facts->exit_known
            ? "the supervisor had to give up (no memory for the output of the run)"
            : "how the child ended is unknown: another part of this process reaped it");
}

static int
set_outcome(PyObject *dict, const struct csb_limits *limits,
            const struct csb_report *report)
{
    const struct csb_facts *facts = &report->facts;
    struct csb_outcome outcome = csb_classify(facts, limits);
    bool exited = facts->exit_known && facts->signal == 0;
    return csb_py_set(dict, "verdict",
                      PyUnicode_FromString(csb_verdict_name(outcome.verdict))) < 0 ||
                   csb_py_set(dict, "limit_hit",
                              optional_text(csb_limit_hit_name(outcome.limit_hit))) <
                       0 ||
                   csb_py_set(dict, "exit_code",
                              optional_int(exited, facts->exit_code)) < 0 ||
                   csb_py_set(dict, "signal",
                              optional_int(facts->signal != 0, facts->signal)) < 0 ||
                   csb_py_set(dict, "error", internal_reason(facts, outcome.verdict)) <
                       0
               ? -1
               : 0;
}

static int
set_figures(PyObject *dict, const struct csb_report *report)
{
    return csb_py_set(dict, "cpu_s", seconds(report->facts.cpu_ns)) < 0 ||
                   csb_py_set(dict, "wall_s", seconds(report->facts.wall_ns)) < 0 ||
                   csb_py_set(dict, "startup_s", seconds(report->startup_ns)) < 0 ||
                   csb_py_set(dict, "peak_memory_bytes",
                              PyLong_FromUnsignedLongLong(report->peak_bytes)) < 0
               ? -1
               : 0;
}

static int
set_streams(PyObject *dict, const struct csb_report *report)
{
    return csb_py_set(dict, "stdout", captured(&report->output)) < 0 ||
                   csb_py_set(dict, "stderr", captured(&report->errors)) < 0 ||
                   csb_py_set(dict, "stdout_total_bytes",
                              PyLong_FromUnsignedLongLong(report->output.total)) < 0 ||
                   csb_py_set(dict, "stderr_total_bytes",
                              PyLong_FromUnsignedLongLong(report->errors.total)) < 0
               ? -1
               : 0;
}

/* What the child answered, in the order in which it was asked. */
static PyObject *
replies(const struct csb_report *report)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < report->reply_count; i++) {
        const struct csb_reply *reply = &report->replies[i];
        PyObject *item =
            Py_BuildValue("{s:y#,s:d,s:d}", "bytes", (const char *)reply->bytes,
                          (Py_ssize_t)reply->count, "cpu_s",
                          (double)reply->cpu_ns / (double)CSB_NS_PER_S, "wall_s",
                          (double)reply->wall_ns / (double)CSB_NS_PER_S);
        if (item == NULL || PyList_Append(list, item) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(item);
    }
    return list;
}

PyObject *
csb_py_report(const struct csb_policy *policy, const struct csb_limits *limits,
              const struct csb_report *report)
{
    PyObject *dict = PyDict_New();
    if (dict != NULL &&
        (set_outcome(dict, limits, report) < 0 || set_figures(dict, report) < 0 ||
         set_streams(dict, report) < 0 ||
         csb_py_set(dict, "isolation", isolation(policy, report->confirmed)) < 0 ||
         csb_py_set(dict, "replies", replies(report)) < 0 ||
         csb_py_set(dict, "violations", violations(&report->notify)) < 0)) {
        Py_CLEAR(dict);
    }
    return dict;
}
