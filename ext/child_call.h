/* Answering one call: the child's side of `csandbox.call` and of data tests.
 * In the child; includes Python.h (limited API of 3.10), so glue.
 *
 * A request is a value (value_format.h), a dict:
 *
 *   "entry"     str: "f", "Class.method", or any expression whose value is callable, such as
 *               "Solution().twoSum". Evaluated in the globals of the submission. A plain
 *               function of a class, named by path, is called on an instance that is made for
 *               this call without arguments
 *   "args"      list; "kwargs"  dict with str keys
 *   "adapters"  dict: "args" list of str or None, one for each of the first arguments;
 *               "kwargs" dict name → str; "result" str or None (child_nodes.h has the names).
 *               "from" int or None: the result is this argument after the call (a function
 *               that changes it in place), not what was returned
 *   "limits"    list of four int for the result: bytes, items, depth, int_digits
 *
 * A reply is a dict whose first key is "kind":
 *
 *   "value"        "value"            what was returned
 *   "raised"       "type", "message"  an exception of user code, cut; its traceback is on stderr
 *   "unencodable"  "path", "message"  the result is no plain data, or passes a limit
 *   "no_entry"     "message"          there is no such function
 *   "bad_request"  "message"          the request is wrong; the caller's mistake
 */
#ifndef CSB_CHILD_CALL_H
#define CSB_CHILD_CALL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "value_writer.h"

/* Answer into `reply` (zero-initialised by the caller, who frees it; its limit is set here).
 * stdout and stderr have been flushed when it returns. Returns 0, also when user code raised
 * anything at all; -1 when there is no memory even for saying so. Leaves no exception. */
int csb_child_answer(PyObject *globals, const unsigned char *request, size_t count,
                     struct csb_value_writer *reply);

#endif
