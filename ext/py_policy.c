/* Theory of operation: glue, in the caller. Turns the mapping described in _core.pyi into a
 * struct csb_policy, once; afterwards the object is immutable and shared between threads. */
#include "py_policy.h"

#include "py_convert.h"
#include "py_error.h"
#include "py_state.h"
#include "sweep.h"
#include "syscall_filter.h"
#include "syscalls.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    PyObject_HEAD struct csb_policy policy;
    struct csb_remover *remover; /* owned, of the module */
} PolicyObject;

struct rule_target {
    struct csb_policy *policy;
    enum csb_path_access access;
};

static int
add_path(const char *path, void *argument)
{
    const struct rule_target *target = argument;
    struct csb_error error;
    enum csb_path_access access = target->access;
    /* The one device that programs write to: os.devnull. */
    if (access == CSB_PATH_READ && strcmp(path, "/dev/null") == 0) {
        access = CSB_PATH_DEVICE;
    }
    if (csb_path_rules_add(&target->policy->paths, access, path,
                           target->policy->scratch_base, &error) < 0) {
        csb_py_raise(&error);
        return -1;
    }
    return 0;
}

static int
add_set(const char *name, void *argument)
{
    enum csb_syscall_set set = csb_syscall_set_lookup(name);
    if (set == CSB_SET_COUNT) {
        PyErr_Format(PyExc_ValueError, "key 'syscalls': no set is called '%s'", name);
        return -1;
    }
    *(uint32_t *)argument |= CSB_SET_BIT(set);
    return 0;
}

static int
add_feature(const char *name, void *argument)
{
    enum csb_feature feature = csb_feature_lookup(name);
    if (feature == CSB_FEATURE_COUNT) {
        PyErr_Format(PyExc_ValueError, "no layer is called '%s'", name);
        return -1;
    }
    *(uint32_t *)argument |= CSB_FEATURE_BIT(feature);
    return 0;
}

/* One of two words → whether it is the second. */
static int
get_choice(PyObject *spec, const char *key, const char *no, const char *yes, bool *ret)
{
    char *word;
    int result = csb_py_get_string(spec, key, &word);
    if (result == 0 && strcmp(word, no) != 0 && strcmp(word, yes) != 0) {
        PyErr_Format(PyExc_ValueError, "key '%s': expected '%s' or '%s', got '%s'", key,
                     no, yes, word);
        result = -1;
    }
    if (result == 0) {
        *ret = strcmp(word, yes) == 0;
    }
    free(word);
    return result;
}

static int
fill_paths(struct csb_policy *policy, PyObject *spec)
{
    struct rule_target read = {policy, CSB_PATH_READ};
    struct rule_target list = {policy, CSB_PATH_LIST};
    struct rule_target execute = {policy, CSB_PATH_EXECUTE};
    struct rule_target child = {policy, CSB_PATH_READ};
    if (csb_py_for_each_string(spec, "read", add_path, &read) < 0 ||
        csb_py_for_each_string(spec, "list", add_path, &list) < 0 ||
        csb_py_for_each_string(spec, "execute", add_path, &execute) < 0) {
        return -1;
    }
    return add_path(policy->child_module, &child);
}

static int
fill(struct csb_policy *policy, PyObject *spec)
{
    uint64_t uid;
    uint64_t abi = INT_MAX;
    if (csb_py_get_string(spec, "profile", &policy->profile) < 0 ||
        csb_py_get_string(spec, "python", &policy->python) < 0 ||
        csb_py_get_string(spec, "child_module", &policy->child_module) < 0 ||
        csb_py_get_string(spec, "scratch_base", &policy->scratch_base) < 0 ||
        csb_py_get_strings(spec, "module_path", &policy->module_path) < 0 ||
        csb_py_get_environment(spec, "env", &policy->environment) < 0 ||
        csb_py_for_each_string(spec, "syscalls", add_set, &policy->sets) < 0 ||
        csb_py_for_each_string(spec, "require", add_feature, &policy->required) < 0 ||
        csb_py_for_each_string(spec, "degrade", add_feature, &policy->degradable) < 0 ||
        get_choice(spec, "scratch", "ro", "rw", &policy->scratch_writable) < 0 ||
        get_choice(spec, "on_denied", "errno", "kill", &policy->kill_on_violation) <
            0 ||
        get_choice(spec, "cgroup", "off", "auto", &policy->cgroup_wanted) < 0 ||
        get_choice(spec, "namespaces", "off", "auto", &policy->namespaces_wanted) < 0 ||
        csb_py_get_u64(spec, "uid", &uid) < 0) {
        return -1;
    }
    if (uid == 0 || uid >= UINT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "key 'uid': expected an unprivileged uid");
        return -1;
    }
    policy->uid = (uint32_t)uid;
    if (PyMapping_HasKeyString(spec, "skip_for_tests") &&
        csb_py_for_each_string(spec, "skip_for_tests", add_feature, &policy->skipped) <
            0) {
        return -1;
    }
    if (PyMapping_HasKeyString(spec, "landlock_abi_for_tests") &&
        csb_py_get_u64(spec, "landlock_abi_for_tests", &abi) < 0) {
        return -1;
    }
    policy->landlock_abi_max = abi < INT_MAX ? (int)abi : INT_MAX;
    return fill_paths(policy, spec);
}

static int
compile_policy(struct csb_policy *policy)
{
    struct csb_error error;
    int result;
    Py_BEGIN_ALLOW_THREADS;
    result = csb_policy_compile(policy, &error);
    if (result == 0) {
        (void)csb_sweep(policy->scratch_base, policy->root ? policy->uid : 0);
    }
    Py_END_ALLOW_THREADS;
    if (result < 0) {
        csb_py_raise(&error);
    }
    return result;
}

static PyObject *
policy_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *spec;
    PolicyObject *self;
    if (keywords != NULL && PyDict_Size(keywords) > 0) {
        PyErr_SetString(PyExc_TypeError, "Policy() takes no keyword arguments");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O:Policy", &spec)) {
        return NULL;
    }
    self = (PolicyObject *)allocate(type, 0);
    if (self != NULL) {
        const struct csb_py_state *state = PyType_GetModuleState(type);
        csb_policy_init(&self->policy);
        self->remover = csb_remover_keep(state->remover);
        self->policy.remover = self->remover;
    }
    if (self != NULL &&
        (fill(&self->policy, spec) < 0 || compile_policy(&self->policy) < 0)) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static void
policy_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    csb_policy_done(&((PolicyObject *)object)->policy);
    csb_remover_drop(((PolicyObject *)object)->remover);
    release(object);
    Py_DECREF(type);
}

static PyObject *
syscall_names(PyObject *object, void *unused)
{
    const struct csb_policy *policy = &((PolicyObject *)object)->policy;
    PyObject *names = PyList_New(0);
    const char *last = "";
    (void)unused;
    for (size_t i = 0; names != NULL && i < csb_syscall_row_count; i++) {
        const struct csb_syscall_row *row = &csb_syscall_rows[i];
        PyObject *name;
        if (!(row->sets & policy->sets) || row->action == CSB_ACTION_ERRNO ||
            strcmp(row->name, last) == 0 || csb_seccomp_number(row->name) < 0) {
            continue;
        }
        last = row->name;
        name = PyUnicode_FromString(row->name);
        if (name == NULL || PyList_Append(names, name) < 0) {
            Py_CLEAR(names);
        }
        Py_XDECREF(name);
    }
    return names;
}

static PyObject *
cleaned(PyObject *object, void *unused)
{
    const struct csb_policy *policy = &((PolicyObject *)object)->policy;
    (void)unused;
    return Py_BuildValue("NO", PyUnicode_DecodeFSDefault(policy->scratch_base),
                         policy->cgroup.fd >= 0 ? Py_True : Py_False);
}

static PyGetSetDef getters[] = {
    {"cleaned", cleaned, NULL,
     "What a janitor has to clean: the folder of scratch folders, and whether there are "
     "control groups.",
     NULL},
    {"syscall_names", syscall_names, NULL,
     "Sorted names of the system calls that untrusted code may make.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, policy_new},
    {Py_tp_dealloc, policy_dealloc},
    {Py_tp_getset, getters},
    {Py_tp_doc, "Everything about a confinement that is the same for each run."},
    {0, NULL},
};

static PyType_Spec spec = {"csandbox._core.Policy", sizeof(PolicyObject), 0,
                           Py_TPFLAGS_DEFAULT, slots};

int
csb_py_policy_add(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    int result = type == NULL ? -1 : PyModule_AddObjectRef(module, "Policy", type);
    Py_XDECREF(type);
    return result;
}

const struct csb_policy *
csb_py_policy_get(PyObject *module, PyObject *object)
{
    (void)module;
    /* Not isinstance(), which believes an object's __class__. The type can not be subclassed,
     * so its deallocator identifies it. */
    if (PyType_GetSlot(Py_TYPE(object), Py_tp_dealloc) != (void *)policy_dealloc) {
        PyErr_SetString(PyExc_TypeError, "expected a Policy");
        return NULL;
    }
    return &((PolicyObject *)object)->policy;
}
