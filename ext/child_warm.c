/* Theory of operation: runs in a zygote and in its new children, on programs of ours. The
 * first compilation in a process costs more than all the rest of a short run, and the first
 * write to each page after a fork is a fault; both are paid for here. Leaves no name, module
 * or output that a program could see. */
#include "child_warm.h"

#include "child_facts.h"
#include "child_nodes.h"

#include <fcntl.h>
#include <unistd.h>

/* What most programs do, in the length that they have. Every page that is dirtied here without
 * need is copied, and freed, once a run; but for a spare that nobody waits for. */
static const char sample[] =
    "from typing import List, Optional\n"
    "import math\n"
    "class Point:\n"
    "    \"\"\" A place. \"\"\"\n"
    "    def __init__(self, x: int, y: int = 0) -> None:\n"
    "        self.x = x\n"
    "        self.y = y\n"
    "    def far(self) -> float:\n"
    "        return math.sqrt(self.x ** 2 + self.y ** 2)\n"
    "def close(numbers: List[float], limit: float = 0.5) -> Optional[float]:\n"
    "    \"\"\" The first step that is shorter than the limit.\n"
    "    >>> close([1.0, 2.0, 2.25])\n"
    "    0.25\n"
    "    \"\"\"\n"
    "    ordered = sorted(numbers, key=lambda n: (n, -n))\n"
    "    for i, (one, other) in enumerate(zip(ordered, ordered[1:])):\n"
    "        if i >= 0 and other - one < limit:\n"
    "            return other - one\n"
    "    return None\n"
    "def words(text: str) -> dict:\n"
    "    found = {}\n"
    "    for word in text.lower().split(','):\n"
    "        try:\n"
    "            found[word] = found.get(word, 0) + int(word)\n"
    "        except ValueError:\n"
    "            found.setdefault(word, []).append(f'{word}:{len(word)}')\n"
    "    return {k: v for k, v in found.items() if v}\n"
    "seen = [i * 2 for i in range(9) if i % 2 == 0]\n"
    "while len(seen) > 2:\n"
    "    seen.pop()\n"
    "result = close([1.0, 2.0, 2.25]), words('a,b,1'), Point(3, 4).far(), sum(n for n in seen)\n"
    "assert result[0] == 0.25 and result[2] != 4.0\n"
    "print(end='')\n";

static int
run_text(const char *text)
{
    PyObject *names = PyDict_New();
    PyObject *source = PyUnicode_FromString(text);
    struct csb_fact_list facts = {0};
    PyObject *code = NULL;
    PyObject *result = NULL;
    if (names != NULL && source != NULL &&
        PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()) == 0) {
        code = csb_child_compile(source, "<csandbox>");
    }
    if (code != NULL && csb_child_collect(code, &facts) == 0) {
        result = PyEval_EvalCode(code, names, names);
    }
    csb_fact_list_done(&facts);
    Py_XDECREF(code);
    Py_XDECREF(source);
    Py_XDECREF(names);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

static int
freeze(void)
{
    PyObject *gc = PyImport_ImportModule("gc");
    PyObject *collected = gc == NULL ? NULL : PyObject_CallMethod(gc, "collect", NULL);
    PyObject *frozen =
        collected == NULL ? NULL : PyObject_CallMethod(gc, "freeze", NULL);
    Py_XDECREF(gc);
    Py_XDECREF(collected);
    Py_XDECREF(frozen);
    return frozen == NULL ? -1 : 0;
}

/* An error goes through modules that nothing else uses: once, into a stream of our own. */
static const char failing[] =
    "import io, sys\n"
    "kept, sys.stderr = sys.stderr, io.StringIO()\n"
    "def f():\n"
    "    raise ValueError('x')\n"
    "try:\n"
    "    import traceback\n"
    "    try:\n"
    "        f()\n"
    "    except ValueError as e:\n"
    "        traceback.print_exception(type(e), e, e.__traceback__)\n"
    "finally:\n"
    "    sys.stderr = kept\n";

/* As in the child, where only its text is another. */
static int
fill_loader(const struct csb_child *child)
{
    PyObject *text = PyUnicode_FromString("");
    int result = text == NULL ? -1 : csb_child_loader_fill(child->loader, text);
    Py_XDECREF(text);
    return result;
}

int
csb_child_warm(struct csb_child *child)
{
    PyObject *globals;
    for (int i = 0; i < 3; i++) {
        if (run_text(sample) < 0 || run_text(failing) < 0) {
            return -1;
        }
    }
    child->nodes = csb_child_make_nodes();
    child->loader = csb_child_loader_new();
    globals = PyModule_GetDict(PyImport_AddModule("__main__")); /* borrowed */
    if (child->nodes == NULL || child->loader == NULL || fill_loader(child) < 0 ||
        PyDict_SetItemString(globals, "__loader__", child->loader) < 0) {
        return -1;
    }
    return freeze();
}

/* The ways that a run takes beside its own code: names, variables, the end. */
static int
go_the_ways(struct csb_child *child)
{
    const struct csb_child_task task = {.file_name = csb_child_plain_name,
                                        .first_argument = csb_child_plain_name};
    int result = fill_loader(child) < 0 ? -1 : csb_child_become(&task);
    child->named = result == 0;
    (void)PyGC_Collect();
    return result;
}

/* Output goes to nobody: its descriptor is not yet that of a run. */
static int
print_to_nobody(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        return -1;
    }
    return run_text("print(1)\n");
}

int
csb_child_touch(struct csb_child *child)
{
    if (run_text(sample) < 0 || go_the_ways(child) < 0 || print_to_nobody() < 0) {
        return -1;
    }
    csb_child_rehearse_leave();
    return 0;
}
