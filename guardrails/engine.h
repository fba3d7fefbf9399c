/* The whole check of one source.
 *
 * Thread-safe: nothing is shared but the constant configuration and grammar. Needs no GIL.
 * Memory: where an allocation of ours fails, the check fails with -ENOMEM. Where one of
 * tree-sitter's fails, tree-sitter ends the process by abort(): ts_set_allocator could only
 * change that for the whole process, behind the back of every other user of tree-sitter, so it
 * is not used. max_source_bytes bounds what a source can ask for. */
#ifndef CSB_GUARD_ENGINE_H
#define CSB_GUARD_ENGINE_H

#include "diagnostic.h"
#include "grammar.h"
#include "guard_config.h"
#include "seen.h"
#include "source.h"
#include "spent.h"

struct csb_findings {
    struct csb_source source; /* what must be compiled */
    struct csb_diags diags;
    struct csb_seen seen; /* for the second opinion, confirm.h */
    struct csb_spent spent;
};

/* Check `len` bytes. 0 with *ret filled (csb_findings_done owns it then), whatever the source
 * holds; -ENOMEM when the check could not be completed, which must be treated as a refusal. */
CSB_MUST_USE int csb_check_source(const struct csb_guard_config *config,
                                  const struct csb_grammar *grammar, const char *bytes,
                                  size_t len, struct csb_findings *ret,
                                  struct csb_error *reterr);
/* The same, and write down in `witness` (may be NULL) what the walk saw; see witness.h. */
struct csb_witness;
CSB_MUST_USE int csb_check_witnessed(const struct csb_guard_config *config,
                                     const struct csb_grammar *grammar,
                                     const char *bytes, size_t len,
                                     struct csb_witness *witness,
                                     struct csb_findings *ret,
                                     struct csb_error *reterr);
void csb_findings_done(struct csb_findings *findings);

#endif
