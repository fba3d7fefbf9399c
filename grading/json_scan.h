/* The words of JSON: white space, strings, numbers, names. For json_value.c. Pure. */
#ifndef CSB_JSON_SCAN_H
#define CSB_JSON_SCAN_H

#include "csb.h"

struct csb_json_text {
    const unsigned char *bytes;
    size_t count;
    size_t at;
};

enum { CSB_JSON_END = -1 };

enum csb_json_word {
    CSB_JSON_NULL,
    CSB_JSON_TRUE,
    CSB_JSON_FALSE,
    CSB_JSON_NAN,
    CSB_JSON_INFINITY,
    CSB_JSON_MINUS_INFINITY,
};

/* Skip white space; the byte that follows, or CSB_JSON_END. */
int csb_json_peek(struct csb_json_text *text);

/* Take one of the words. */
bool csb_json_word(struct csb_json_text *text, enum csb_json_word *ret);

/* Take a number; its length, 0 when there is none. */
size_t csb_json_number(struct csb_json_text *text, bool *ret_is_int);

/* Take a string that begins here into `buffer`, which is as long as the text: UTF-8, lone
 * surrogates with three bytes each. NULL, or what is wrong. */
const char *csb_json_string(struct csb_json_text *text, unsigned char *buffer,
                            size_t *ret_count, bool *ret_surrogates);

#endif
