/* Compiler attributes and tiny macros that every C file of csandbox may use.
 * Nothing here has behaviour, so every layer and every process may include it. */
#ifndef CSB_H
#define CSB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CSB_ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))
#define CSB_MUST_USE __attribute__((warn_unused_result))
#define CSB_PRINTF(format_index, first_argument)                                       \
    __attribute__((format(printf, format_index, first_argument)))
#define CSB_CLEANUP(function) __attribute__((cleanup(function)))
#define CSB_NORETURN __attribute__((noreturn))

#endif
