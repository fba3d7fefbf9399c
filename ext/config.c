/* Theory of operation: runs in the caller after the child was started; the child is
 * blocked reading the channel meanwhile. */
#include "config.h"

#include "wire.h"

#include <string.h>

enum { CONFIG_BYTES_MAX = 160 * 1024 };

static int
build(struct csb_wire_config header, const struct csb_policy *policy,
      const struct csb_rlimit *rlimits, const struct csb_strings *preload,
      struct csb_message *ret, struct csb_error *reterr)
{
    const size_t filter_bytes =
        policy->narrow_filter.length * sizeof *policy->narrow_filter.code;
    header.magic = CSB_WIRE_MAGIC;
    header.uid = policy->uid;
    header.notify = policy->notify;
    header.skipped = policy->skipped;
    header.filter_length = policy->narrow_filter.length;
    header.path_count = (uint32_t)policy->module_path.count;
    memcpy(header.outside, policy->own_namespaces, sizeof header.outside);
    csb_message_put(ret, &header, sizeof header);
    csb_message_put(ret, policy->narrow_filter.code, filter_bytes);
    csb_message_put(ret, rlimits, header.rlimit_count * sizeof *rlimits);
    csb_message_put_string(ret, policy->profile == NULL ? "" : policy->profile);
    csb_message_put_strings(ret, &policy->module_path);
    if (preload != NULL) {
        csb_message_put_strings(ret, preload);
    }
    if (!ret->failed) {
        struct csb_wire_config *sent = (struct csb_wire_config *)(void *)ret->bytes;
        sent->payload_bytes = (uint32_t)(ret->count - sizeof header);
    }
    return csb_message_finish(ret, CONFIG_BYTES_MAX, reterr);
}

int
csb_config_build(const struct csb_policy *policy, const struct csb_rlimit *rlimits,
                 size_t rlimit_count, struct csb_message *ret, struct csb_error *reterr)
{
    const struct csb_wire_config header = {.rlimit_count = (uint32_t)rlimit_count};
    return build(header, policy, rlimits, NULL, ret, reterr);
}

int
csb_config_build_zygote(const struct csb_policy *policy,
                        const struct csb_strings *preload, struct csb_message *ret,
                        struct csb_error *reterr)
{
    const struct csb_wire_config header = {.zygote = 1,
                                           .preload_count = (uint32_t)preload->count};
    return build(header, policy, NULL, preload, ret, reterr);
}
