/* Theory of operation: reads the mapping that csandbox's own Python hands down. GIL held, in the
 * caller. Types are checked here, because a wrong one must be an error that names its key;
 * meaning is checked by csb_guard_config_new. */
#include "py_guard_spec.h"

#include <stdlib.h>
#include <string.h>

#include "py_convert.h"

/* A list of strings and the tuple that keeps them alive. */
struct names {
    PyObject *keep;
    const char **items;
    size_t len;
};

static void
names_done(struct names *names)
{
    Py_CLEAR(names->keep);
    free((void *)names->items);
    memset(names, 0, sizeof *names);
}

static int
bad_type(const char *key, const char *wanted)
{
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%s: must be %s", key, wanted);
    return -1;
}

/* Takes the reference to `tuple`. */
static int
take_names(const char *key, PyObject *tuple, struct names *ret)
{
    Py_ssize_t len = PyTuple_Size(tuple);
    memset(ret, 0, sizeof *ret);
    ret->keep = tuple;
    ret->items = calloc((size_t)len + 1, sizeof *ret->items);
    if (ret->items == NULL) {
        (void)PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < len; i++) {
        PyObject *item = PyTuple_GetItem(tuple, i);
        Py_ssize_t bytes = 0;
        const char *string =
            PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, &bytes) : NULL;
        if (string == NULL || strlen(string) != (size_t)bytes) {
            return bad_type(key, "made of str without NUL");
        }
        ret->items[ret->len++] = string;
    }
    return 0;
}

/* names_done(ret) is due whatever this returns. */
static int
read_names(PyObject *mapping, const char *key, struct names *ret)
{
    PyObject *value = csb_py_get(mapping, key);
    PyObject *tuple = NULL;
    memset(ret, 0, sizeof *ret);
    if (value == NULL) {
        return -1;
    }
    /* A str is a sequence of str, but never what was meant. */
    if (!PyUnicode_Check(value) && !PyBytes_Check(value)) {
        tuple = PySequence_Tuple(value);
    }
    Py_DECREF(value);
    return tuple == NULL ? bad_type(key, "a sequence of str")
                         : take_names(key, tuple, ret);
}

/* A mapping str -> str as two parallel lists; both are due for names_done in any case. */
static int
read_pairs(PyObject *mapping, const char *key, struct names *ret_keys,
           struct names *ret_values)
{
    PyObject *value = csb_py_get(mapping, key);
    PyObject *keys = value == NULL ? NULL : PyMapping_Keys(value);
    PyObject *values = keys == NULL ? NULL : PyMapping_Values(value);
    PyObject *key_tuple = values == NULL ? NULL : PySequence_Tuple(keys);
    PyObject *value_tuple = key_tuple == NULL ? NULL : PySequence_Tuple(values);
    int r;
    memset(ret_keys, 0, sizeof *ret_keys);
    memset(ret_values, 0, sizeof *ret_values);
    if (value_tuple != NULL) {
        r = take_names(key, key_tuple, ret_keys);
        r = take_names(key, value_tuple, ret_values) < 0 ? -1 : r;
    } else {
        Py_XDECREF(key_tuple);
        r = value == NULL ? -1 : bad_type(key, "a mapping from str to str");
    }
    Py_XDECREF(keys);
    Py_XDECREF(values);
    Py_XDECREF(value);
    return r;
}

static int
read_count(PyObject *mapping, const char *key, uint64_t *ret)
{
    PyObject *value = csb_py_get(mapping, key);
    long long number;
    if (value == NULL) {
        return -1;
    }
    number = PyLong_Check(value) ? PyLong_AsLongLong(value) : -1;
    Py_DECREF(value);
    if (number <= 0) {
        return bad_type(key, "an int above 0");
    }
    *ret = (uint64_t)number;
    return 0;
}

/* mode: family -> "enforce" | "observe". */
static int
read_modes(PyObject *mapping, bool observe[CSB_FAMILY_COUNT])
{
    struct names families;
    struct names words;
    int r = read_pairs(mapping, "mode", &families, &words);
    for (size_t i = 0; r == 0 && i < families.len; i++) {
        int family = csb_family_find(families.items[i]);
        bool observed = strcmp(words.items[i], "observe") == 0;
        if (family < 0) {
            r = bad_type("mode",
                         "a mapping whose keys are families of rules: integrity, "
                         "imports, traversal, builtins, advice");
        } else if (!observed && strcmp(words.items[i], "enforce") != 0) {
            r = bad_type("mode", "a mapping to \"enforce\" or \"observe\"");
        } else if (observed && family == CSB_FAMILY_INTEGRITY) {
            r = bad_type("mode",
                         "\"enforce\" for the family integrity: what cannot be read "
                         "cannot be run");
        } else {
            observe[family] = observed;
        }
    }
    names_done(&families);
    names_done(&words);
    return r;
}

static const char *const list_keys[] = {
    "select",       "ignore",         "imports_allow",
    "imports_deny", "builtins_allow", "attributes_allow",
};
#define LISTS CSB_ARRAY_LEN(list_keys)

struct reader {
    struct names lists[LISTS];
    struct names help_names;
    struct names help_texts;
    PyObject *profile;
    struct csb_guard_config_spec spec;
};

static void
reader_done(struct reader *reader)
{
    for (size_t i = 0; i < LISTS; i++) {
        names_done(&reader->lists[i]);
    }
    names_done(&reader->help_names);
    names_done(&reader->help_texts);
    Py_CLEAR(reader->profile);
}

static int
read_profile(PyObject *mapping, struct reader *reader)
{
    Py_ssize_t len = 0;
    reader->profile = csb_py_get(mapping, "profile");
    if (reader->profile == NULL) {
        return -1;
    }
    reader->spec.profile = PyUnicode_Check(reader->profile)
                               ? PyUnicode_AsUTF8AndSize(reader->profile, &len)
                               : NULL;
    return reader->spec.profile == NULL ? bad_type("profile", "a str") : 0;
}

static int
read_lists(PyObject *mapping, struct reader *reader)
{
    struct csb_guard_config_spec *spec = &reader->spec;
    struct csb_guard_strings *const targets[LISTS] = {
        &spec->select,       &spec->ignore,         &spec->imports_allow,
        &spec->imports_deny, &spec->builtins_allow, &spec->attributes_allow,
    };
    for (size_t i = 0; i < LISTS; i++) {
        if (read_names(mapping, list_keys[i], &reader->lists[i]) < 0) {
            return -1;
        }
        targets[i]->items = reader->lists[i].items;
        targets[i]->len = reader->lists[i].len;
    }
    if (read_pairs(mapping, "import_help", &reader->help_names, &reader->help_texts) <
        0) {
        return -1;
    }
    spec->help_names.items = reader->help_names.items;
    spec->help_names.len = reader->help_names.len;
    spec->help_texts.items = reader->help_texts.items;
    spec->help_texts.len = reader->help_texts.len;
    return 0;
}

static int
read_limits(PyObject *mapping, struct csb_guard_limits *limits)
{
    const struct {
        const char *key;
        uint64_t *value;
    } rows[] = {
        {"max_source_bytes", &limits->max_source_bytes},
        {"max_nodes", &limits->max_nodes},
        {"max_depth", &limits->max_depth},
        {"max_findings_per_rule", &limits->max_findings_per_rule},
        {"max_time_ms", &limits->max_time_ms},
    };
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        if (read_count(mapping, rows[i].key, rows[i].value) < 0) {
            return -1;
        }
    }
    return 0;
}

int
csb_py_guard_config(PyObject *mapping, struct csb_guard_config **ret)
{
    struct reader reader;
    struct csb_error error = {0};
    int r;
    memset(&reader, 0, sizeof reader);
    r = read_profile(mapping, &reader);
    r = r < 0 ? r : read_lists(mapping, &reader);
    r = r < 0 ? r : read_modes(mapping, reader.spec.observe);
    r = r < 0 ? r : read_limits(mapping, &reader.spec.limits);
    if (r == 0) {
        r = csb_guard_config_new(ret, &reader.spec, &error);
        if (r < 0 && error.step == CSB_STEP_MEMORY) {
            (void)PyErr_NoMemory();
        } else if (r < 0) {
            PyErr_SetString(PyExc_ValueError, error.message);
        }
    }
    reader_done(&reader);
    return r < 0 ? -1 : 0;
}
