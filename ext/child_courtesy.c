/* Theory of operation: runs in the child, for clear messages only. Each function of the table
 * is replaced by one that calls it and, when it fails, has the exception's words changed
 * (child_explain.c). The system call is made and refused first, so that the supervisor
 * counts it. A program that does not call these functions pays nothing: there is no audit
 * hook, which would be called a million times by a million id(), and what belongs to a module
 * is replaced when that is imported.
 *
 * A replacement is a built-in function like the original: name, module, signature and text
 * are the same, and a traceback has no frame of it. Its __self__ is a module object that holds
 * what it needs, since a function whose __self__ is a module prints and pickles as functions do. */
#include "child_courtesy.h"

#include "child_explain.h"

#include <string.h>

struct row {
    const char *at; /* the import at which it is replaced; NULL: at once */
    const char *module;
    const char *name;
    const char *alias[2]; /* modules that may hold the same function */
    const char *what;     /* for messages */
    enum csb_denial denial;
};

#define OS(name, denial) {"os", "posix", name, {NULL}, name, CSB_DENIAL_##denial}
#define LOOK_UP(name) {"socket", "_socket", name, {"socket"}, name, CSB_DENIAL_NETWORK}

static const struct row rows[] = {
    {NULL, "_io", "open", {"io", "builtins"}, "open", CSB_DENIAL_CALL},
    OS("execv", PROCESS),
    OS("execve", PROCESS),
    OS("fork", PROCESS),
    OS("forkpty", PROCESS),
    OS("kill", SIGNAL),
    OS("killpg", SIGNAL),
    OS("link", CALL),
    OS("listdir", CALL),
    OS("memfd_create", CALL),
    OS("mkdir", CALL),
    OS("mkfifo", CALL),
    OS("mknod", CALL),
    OS("open", CALL),
    OS("pidfd_open", SIGNAL),
    OS("posix_spawn", PROCESS),
    OS("posix_spawnp", PROCESS),
    OS("remove", CALL),
    OS("rename", CALL),
    OS("replace", CALL),
    OS("rmdir", CALL),
    OS("scandir", CALL),
    OS("symlink", CALL),
    OS("truncate", CALL),
    OS("unlink", CALL),
    LOOK_UP("getaddrinfo"),
    LOOK_UP("gethostbyaddr"),
    LOOK_UP("gethostbyname"),
    LOOK_UP("gethostbyname_ex"),
    LOOK_UP("getnameinfo"),
    LOOK_UP("socketpair"),
    {"subprocess",
     "_posixsubprocess",
     "fork_exec",
     {NULL},
     "subprocess",
     CSB_DENIAL_PROCESS},
    {"subprocess",
     "subprocess",
     "_fork_exec",
     {NULL},
     "subprocess",
     CSB_DENIAL_PROCESS},
    {"multiprocessing.util",
     "multiprocessing.util",
     "spawnv_passfds",
     {NULL},
     "multiprocessing",
     CSB_DENIAL_PROCESS},
};

static const struct row socket_row = {"socket", "socket", "socket",
                                      {NULL},   "socket", CSB_DENIAL_NETWORK};
static const struct row import_row = {
    NULL, "_frozen_importlib", "_find_and_load", {NULL}, "import", CSB_DENIAL_CALL};

/* State of the module object behind a replacement. */
struct replaced {
    PyMethodDef definition;
    const struct row *row;
    PyObject *original;
    PyObject *profile;
    PyObject *text; /* its UTF-8 is definition.ml_doc */
};

static void
release(void *module)
{
    struct replaced *held = PyModule_GetState(module);
    if (held != NULL) {
        Py_CLEAR(held->original);
        Py_CLEAR(held->profile);
        Py_CLEAR(held->text);
    }
}

static struct PyModuleDef holder = {PyModuleDef_HEAD_INIT, .m_name = "csandbox",
                                    .m_size = sizeof(struct replaced),
                                    .m_free = release};

/* As in any built-in: the signature first, where inspect looks for it. NULL without error when
 * the original has no text. */
static PyObject *
text_of(PyObject *original, const char *name)
{
    PyObject *signature = PyObject_GetAttrString(original, "__text_signature__");
    PyObject *text = PyObject_GetAttrString(original, "__doc__");
    PyObject *result = NULL;
    if (text != NULL && PyUnicode_Check(text)) {
        if (signature != NULL && PyUnicode_Check(signature)) {
            result = PyUnicode_FromFormat("%s%U\n--\n\n%U", name, signature, text);
        } else {
            result = text;
            Py_INCREF(result);
        }
    }
    PyErr_Clear();
    Py_XDECREF(signature);
    Py_XDECREF(text);
    return result;
}

static PyObject *
replacement(const struct row *row, PyCFunction function, PyObject *original,
            PyObject *profile)
{
    PyObject *module = PyModule_Create(&holder);
    PyObject *home = PyObject_GetAttrString(original, "__module__");
    struct replaced *held = module == NULL ? NULL : PyModule_GetState(module);
    PyObject *result = NULL;
    PyErr_Clear(); /* a function without __module__ gets one without */
    if (held != NULL) {
        held->row = row;
        held->original = original;
        held->profile = profile;
        Py_INCREF(original);
        Py_INCREF(profile);
        held->text = text_of(original, row->name);
        held->definition = (PyMethodDef){
            row->name, function, METH_VARARGS | METH_KEYWORDS,
            held->text == NULL ? NULL : PyUnicode_AsUTF8AndSize(held->text, NULL)};
        result = PyCFunction_NewEx(&held->definition, module, home);
    }
    Py_XDECREF(home);
    Py_XDECREF(module);
    return result;
}

static PyObject *
call(PyObject *self, PyObject *args, PyObject *keywords)
{
    const struct replaced *held = PyModule_GetState(self);
    PyObject *result = PyObject_Call(held->original, args, keywords);
    if (result == NULL) {
        csb_child_explain(held->row->denial, held->row->what, held->profile);
    }
    return result;
}

/* Set the attribute where it is the original; where it is not, it is somebody else's. */
static void
replace_alias(const char *name, const char *attribute, PyObject *original,
              PyObject *function)
{
    PyObject *key = PyUnicode_FromString(name);
    PyObject *module = key == NULL ? NULL : PyImport_GetModule(key);
    PyObject *found = module == NULL ? NULL : PyObject_GetAttrString(module, attribute);
    if (found == original) {
        (void)PyObject_SetAttrString(module, attribute, function);
    }
    PyErr_Clear();
    Py_XDECREF(found);
    Py_XDECREF(module);
    Py_XDECREF(key);
}

/* A function that this CPython does not have is passed over. */
static void
replace(const struct row *row, PyCFunction function, PyObject *profile)
{
    PyObject *key = PyUnicode_FromString(row->module);
    PyObject *module = key == NULL ? NULL : PyImport_GetModule(key);
    PyObject *original =
        module == NULL ? NULL : PyObject_GetAttrString(module, row->name);
    PyObject *made = NULL;
    if (original != NULL) {
        made = replacement(row, function, original, profile);
    }
    if (made != NULL && PyObject_SetAttrString(module, row->name, made) == 0) {
        for (size_t i = 0; i < CSB_ARRAY_LEN(row->alias); i++) {
            if (row->alias[i] != NULL) {
                replace_alias(row->alias[i], row->name, original, made);
            }
        }
    }
    PyErr_Clear();
    Py_XDECREF(made);
    Py_XDECREF(original);
    Py_XDECREF(module);
    Py_XDECREF(key);
}

/* A class that is `base` but for its __init__, for calls of the form base.__init__(self, …). */
static PyObject *
class_with_init(PyObject *base, PyObject *profile)
{
    PyObject *original = PyObject_GetAttrString(base, "__init__");
    PyObject *init = NULL;
    PyObject *type = NULL;
    if (original != NULL) {
        init = replacement(&socket_row, (PyCFunction)(void (*)(void))call, original,
                           profile);
    }
    if (init != NULL) {
        type = PyObject_CallFunction((PyObject *)&PyType_Type, "s(O){sOs()}", "socket",
                                     base, "__init__", init, "__slots__");
    }
    Py_XDECREF(original);
    Py_XDECREF(init);
    return type;
}

/* The class _socket.socket can not be changed, and socket.socket must stay what inspect and
 * mock expect. But the one calls the other through a global name of its module: that name gets
 * a copy of the module _socket whose class says why. */
static void
replace_socket(PyObject *profile)
{
    PyObject *key = PyUnicode_FromString("socket");
    PyObject *module = key == NULL ? NULL : PyImport_GetModule(key);
    PyObject *inner = module == NULL ? NULL : PyObject_GetAttrString(module, "_socket");
    PyObject *base = inner == NULL ? NULL : PyObject_GetAttrString(inner, "socket");
    PyObject *type = base == NULL ? NULL : class_with_init(base, profile);
    PyObject *copy = type == NULL ? NULL : PyModule_New("_socket");
    if (copy != NULL &&
        PyDict_Update(PyModule_GetDict(copy), PyModule_GetDict(inner)) == 0 &&
        PyObject_SetAttrString(copy, "socket", type) == 0) {
        (void)PyObject_SetAttrString(module, "_socket", copy);
    }
    PyErr_Clear();
    Py_XDECREF(copy);
    Py_XDECREF(type);
    Py_XDECREF(base);
    Py_XDECREF(inner);
    Py_XDECREF(module);
    Py_XDECREF(key);
}

static bool
same(const char *one, const char *other)
{
    return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

static void
replace_at(const char *import, PyObject *profile)
{
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        if (same(rows[i].at, import)) {
            replace(&rows[i], (PyCFunction)(void (*)(void))call, profile);
        }
    }
    if (same(socket_row.at, import)) {
        replace_socket(profile);
    }
}

/* The import of the table that `name` is, if it has not happened yet. */
static const char *
awaited(PyObject *name)
{
    static const char *const imports[] = {"os", "socket", "subprocess",
                                          "multiprocessing.util"};
    const char *result = NULL;
    PyObject *module;
    for (size_t i = 0; i < CSB_ARRAY_LEN(imports); i++) {
        if (PyUnicode_CompareWithASCIIString(name, imports[i]) == 0) {
            result = imports[i];
        }
    }
    if (result != NULL) {
        module = PyImport_GetModule(name);
        result = module == NULL ? result : NULL;
        PyErr_Clear();
        Py_XDECREF(module);
    }
    return result;
}

/* What every import calls whose module is not there yet, and none else. */
static PyObject *
find_and_load(PyObject *self, PyObject *args, PyObject *keywords)
{
    const struct replaced *held = PyModule_GetState(self);
    PyObject *name = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : Py_None;
    const char *import = PyUnicode_Check(name) ? awaited(name) : NULL;
    /* os copies what posix has, also into sets that others look into: before. */
    const bool before = same(import, "os");
    PyObject *result;
    if (before) {
        replace_at(import, held->profile);
    }
    result = PyObject_Call(held->original, args, keywords);
    if (result == NULL) {
        csb_child_explain_import(name, held->profile);
    } else if (import != NULL && !before) {
        replace_at(import, held->profile);
    }
    return result;
}

int
csb_child_courtesy(const char *profile)
{
    PyObject *name;
    if (profile[0] == '\0') {
        return 0;
    }
    name = PyUnicode_DecodeUTF8(profile, (Py_ssize_t)strlen(profile), "replace");
    if (name == NULL) {
        return -1;
    }
    replace_at(NULL, name);
    replace(&import_row, (PyCFunction)(void (*)(void))find_and_load, name);
    Py_DECREF(name);
    return 0;
}
