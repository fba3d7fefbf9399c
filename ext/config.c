/* Theory of operation: runs in the caller after the child was started; the child is
 * blocked reading the channel meanwhile. Sizes are added up first, then everything is
 * copied into one block, so the message is sent by one loop. */
#include "config.h"

#include "syscalls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More than a command line can hold; a message of this size fits the socket buffer. */
enum { PAYLOAD_MAX = 160 * 1024 };

struct writer {
    unsigned char *at;
};

static void
put(struct writer *writer, const void *bytes, size_t count)
{
    if (count > 0) {
        memcpy(writer->at, bytes, count);
        writer->at += count;
    }
}

static void
put_strings(struct writer *writer, const struct csb_strings *strings)
{
    for (size_t i = 0; i < strings->count; i++) {
        put(writer, strings->items[i], strlen(strings->items[i]) + 1);
    }
}

static size_t
strings_size(const struct csb_strings *strings)
{
    size_t size = 0;
    for (size_t i = 0; i < strings->count; i++) {
        size += strlen(strings->items[i]) + 1;
    }
    return size;
}

void
csb_config_done(struct csb_config *config)
{
    free(config->bytes);
    *config = (struct csb_config){0};
}

static int
put_filter(struct writer *writer, const struct csb_policy *policy, pid_t child,
           struct csb_error *reterr)
{
    struct csb_bpf copy = {policy->narrow_filter.length,
                           (struct sock_filter *)writer->at};
    put(writer, policy->narrow_filter.code,
        policy->narrow_filter.length * sizeof *policy->narrow_filter.code);
    if (csb_bpf_patch_equal(&copy, (uint32_t)CSB_OWN_PID, (uint32_t)child) == 0) {
        return csb_fail(reterr, CSB_STEP_SECCOMP, EPROTO,
                        "the filter has no place for the child's pid");
    }
    return 0;
}

int
csb_config_build(const struct csb_policy *policy, const struct csb_plan *plan,
                 pid_t child, const char *file_name,
                 const struct csb_strings *arguments, struct csb_config *ret,
                 struct csb_error *reterr)
{
    size_t payload = policy->narrow_filter.length * sizeof *policy->narrow_filter.code +
                     plan->rlimit_count * sizeof *plan->rlimits + strlen(file_name) +
                     1 + strings_size(&policy->module_path) + strings_size(arguments);
    struct csb_wire_config header = {.magic = CSB_WIRE_MAGIC,
                                     .payload_bytes = (uint32_t)payload,
                                     .uid = policy->uid,
                                     .notify = policy->notify,
                                     .skipped = policy->skipped,
                                     .filter_length = policy->narrow_filter.length,
                                     .rlimit_count = (uint32_t)plan->rlimit_count,
                                     .path_count = (uint32_t)policy->module_path.count,
                                     .argument_count = (uint32_t)arguments->count};
    struct writer writer;
    int result;
    memcpy(header.outside, policy->own_namespaces, sizeof header.outside);
    if (payload > PAYLOAD_MAX) {
        return csb_fail(reterr, CSB_STEP_ARGUMENT, E2BIG,
                        "args and module path are longer than %d bytes", PAYLOAD_MAX);
    }
    ret->count = sizeof header + payload;
    ret->bytes = malloc(ret->count);
    if (ret->bytes == NULL) {
        return csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM, "no memory for a message");
    }
    writer.at = ret->bytes;
    put(&writer, &header, sizeof header);
    result = put_filter(&writer, policy, child, reterr);
    put(&writer, plan->rlimits, plan->rlimit_count * sizeof *plan->rlimits);
    put(&writer, file_name, strlen(file_name) + 1);
    put_strings(&writer, &policy->module_path);
    put_strings(&writer, arguments);
    if (result < 0) {
        csb_config_done(ret);
    }
    return result;
}
