/* Numbers of values and of text: closeness, and one form for equal ones. Pure. */
#ifndef CSB_NUMBER_H
#define CSB_NUMBER_H

#include "keyed_hash.h"
#include "value_reader.h"

/* Equal, or |got - expected| within absolute or relative × |expected|; nan is close to
 * nothing, an infinity to itself. */
bool csb_number_close(double got, double expected, double relative, double absolute);

/* The nearest double of an INT, BIG or FLOAT; an infinity beyond its range. */
double csb_number_of(const struct csb_value_token *token);

/* Add to the hash what numbers of the same value share, whatever their type. */
void csb_number_hash(struct csb_hasher *hasher, const struct csb_value_token *token);

/* The bits of a double, one pattern for both zeros and one for all nans. */
uint64_t csb_double_bits(double number);

#endif
