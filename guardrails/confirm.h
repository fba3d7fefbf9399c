/* The second opinion: what CPython compiled (ext/facts.h) against what the parser showed.
 *
 * Runs in the caller, in the thread of the run, without the GIL; knows no trees and no
 * Python objects. */
#ifndef CSB_GUARD_CONFIRM_H
#define CSB_GUARD_CONFIRM_H

#include "engine.h"

/* Compare and update the findings:
 *  - the first opinion found nothing that blocks: a name or import that the parser did not
 *    show is added as CSB010, which blocks;
 *  - it found only that the source can not be read (CSB001, CSB010): every name, import and
 *    telling string is held against the tables. If all pass, those findings become advice
 *    with a note; otherwise CSB010 says what was found.
 *  - it found anything else: nothing can help, and the findings stay as they are.
 * *ret_agrees tells whether the program may be executed.
 * Returns 0, or -ENOMEM (then it must not be executed). */
CSB_MUST_USE int csb_confirm(const struct csb_guard_config *config,
                             struct csb_findings *findings, const unsigned char *facts,
                             size_t count, bool *ret_agrees, struct csb_error *reterr);

/* True when the second opinion could still let the source through. */
bool csb_confirm_may_help(const struct csb_findings *findings);

#endif
