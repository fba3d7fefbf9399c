/* Theory of operation: in the caller, GIL released. Both texts become values and are compared
 * as such, numbers by what they are worth. */
#include "text_difference.h"

#include "compare_value.h"
#include "json_value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct csb_value_limits limits = {
    UINT64_MAX, UINT32_MAX, CSB_VALUE_MAX_DEPTH, CSB_JSON_INT_DIGITS + 8};

static int
compare(const struct csb_value_writer *got, const struct csb_value_writer *expected,
        const struct csb_compare_options *options, struct csb_text_difference *ret)
{
    const struct csb_value_rules rules = {.numeric = true,
                                          .nan_equal = options->nan_equal,
                                          .relative = options->relative,
                                          .absolute = options->absolute};
    const struct csb_encoded one = {got->bytes, got->count, &limits};
    const struct csb_encoded two = {expected->bytes, expected->count, &limits};
    struct csb_value_difference difference;
    struct csb_value_fault fault;
    bool bad_got;
    int result = csb_compare_values(&one, &two, &rules, &difference, &fault, &bad_got);
    if (result == 1) {
        memcpy(ret->path, difference.path, sizeof ret->path);
        memcpy(ret->got_value, difference.got, sizeof ret->got_value);
        memcpy(ret->expected_value, difference.expected, sizeof ret->expected_value);
    } else if (result == -EBADMSG) { /* a key that is twice in an object */
        (void)snprintf(ret->what, sizeof ret->what, "a key that is twice in an object");
        result = 1;
    }
    return result;
}

int
csb_compare_json(struct csb_text_piece got, struct csb_text_piece expected,
                 const struct csb_compare_options *options,
                 struct csb_text_difference *ret)
{
    struct csb_value_writer one = {.limit = UINT64_MAX};
    struct csb_value_writer two = {.limit = UINT64_MAX};
    struct csb_value_fault fault;
    int result = csb_json_to_value(expected.bytes, expected.count, &two, &fault);
    if (result == -EBADMSG) {
        (void)snprintf(ret->what, sizeof ret->what, "no JSON was expected: %.200s",
                       fault.message);
        result = -EINVAL;
    }
    if (result == 0) {
        result = csb_json_to_value(got.bytes, got.count, &one, &fault);
        if (result == -EBADMSG) {
            (void)snprintf(ret->what, sizeof ret->what, "no JSON: %.200s",
                           fault.message);
            result = 1;
        } else if (result == 0) {
            result = compare(&one, &two, options, ret);
        }
    }
    csb_value_writer_done(&one);
    csb_value_writer_done(&two);
    return result;
}
