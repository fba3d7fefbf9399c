/* What several rules share: judging an attribute's name, and reporting guarded members. */
#ifndef CSB_GUARD_RULESET_H
#define CSB_GUARD_RULESET_H

#include "fold.h"
#include "resolve.h"
#include "rule.h"
#include "value.h"

/* Report the site when it names a member that `rule` guards, under that member's condition. */
void csb_report_member(struct csb_check *check, const struct csb_site *site,
                       enum csb_rule_id rule, const char *help);

/* Report that `node`, a string, names the refused attribute `name`: "`what` the refused attribute
 * `name`". NULL when the rule is off or capped; the caller adds label and help. */
struct csb_diag *csb_report_named(struct csb_check *check, enum csb_rule_id rule,
                                  TSNode node, const char *what, const char *name,
                                  size_t len);

/* Report a site whose special name is not to be used, unless the profile allows it: "`what`
 * `name``why`". */
struct csb_diag *csb_report_special(struct csb_check *check, enum csb_rule_id rule,
                                    const struct csb_site *site, const char *what,
                                    const char *why);

/* Does the profile let this use of a builtin through (builtins_allow)? Calls, and map(f, ...):
 * passed around under another name, nobody could say what it is used for. */
bool csb_builtin_is_lifted(const struct csb_check *check, const struct csb_site *site);

/* Where the module that the site means was imported, when that is another line: second label. */
void csb_imported_here(struct csb_check *check, const struct csb_site *site,
                       struct csb_diag *diag);

enum csb_access {
    CSB_ACCESS_READ,  /* getattr, attrgetter, a format field, a pattern */
    CSB_ACCESS_TEST,  /* hasattr */
    CSB_ACCESS_WRITE, /* setattr, delattr */
};

/* True when naming this attribute by a string is refused whatever the receiver is. */
bool csb_name_is_refused(const struct csb_check *check, const char *name, size_t len,
                         enum csb_access access);

/* The first refused part of a dotted name ("__class__.__base__"); *ret_len is its length.
 * NULL when every part is fine. */
const char *csb_refused_part(const struct csb_check *check, const char *dotted,
                             size_t len, enum csb_access access, size_t *ret_len);

/* The first refused part in the fields of a str.format template, or NULL. The part points into
 * `template`. */
const char *csb_refused_field(const struct csb_check *check, const char *template,
                              size_t len, size_t *ret_len);

/* The first refused name among the words of a format specifier or a % template's keys. */
const char *csb_refused_word(const struct csb_check *check, const char *text,
                             size_t len, size_t *ret_len);

/* "`sys._getframe` hands out stack frames" - the receiver's path and the name, escaped. */
const char *csb_site_text(const struct csb_check *check, const struct csb_site *site,
                          char buffer[CSB_NAME_BYTES]);

#endif
