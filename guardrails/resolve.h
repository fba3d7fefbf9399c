/* Which module an expression means, and the arguments of a call.
 *
 * Answers are about the source as written: a name that is a module on some path counts as that
 * module. Bounded work per question. */
#ifndef CSB_GUARD_RESOLVE_H
#define CSB_GUARD_RESOLVE_H

#include "rule.h"

#define CSB_PATH_BYTES 256

/* The dotted name of the module (or member of a module) that `expression` means, for example
 * "numpy.lib.npyio". False when it means none, or is too long to matter. */
bool csb_resolve(struct csb_check *check, uint32_t scope, TSNode expression,
                 char path[CSB_PATH_BYTES]);

/* The receiver of an ATTRIBUTE site; a null node for parts of a dotted pattern. */
TSNode csb_receiver(const struct csb_check *check, const struct csb_site *site);

/* The module that the receiver of an ATTRIBUTE site means. */
bool csb_resolve_receiver(struct csb_check *check, const struct csb_site *site,
                          char path[CSB_PATH_BYTES]);

/* The guarded member that an ATTRIBUTE or IMPORT site names, or NULL. */
const struct csb_member *csb_site_member(struct csb_check *check,
                                         const struct csb_site *site,
                                         char path[CSB_PATH_BYTES]);

/* The n-th positional argument of a call, or the one with that keyword (NULL: none); a null
 * node when absent. *ret_splat (may be NULL) tells that * or ** hides arguments. */
TSNode csb_argument(const struct csb_check *check, TSNode call, uint32_t index,
                    const char *keyword, bool *ret_splat);
uint32_t csb_argument_count(const struct csb_check *check, TSNode call);

/* True when the expression is a display of data: (), [], "", 1, None, a lambda, ... */
bool csb_is_literal(const struct csb_check *check, TSNode expression);

/* True when the expression is a name that the source itself defines as a class. */
bool csb_is_own_class(struct csb_check *check, uint32_t scope, TSNode expression);

/* What the source says of a name; NULL for any other expression and for unbound names. */
const struct csb_local *csb_local_of(struct csb_check *check, uint32_t scope,
                                     TSNode expression);

/* True for the identifiers self, cls and mcs. */
bool csb_is_self(const struct csb_check *check, TSNode expression);

#endif
