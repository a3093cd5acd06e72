/*
 * number.h: decimal integers, strictly.
 *
 * The whole text must be digits (with one leading '-' for the signed form):
 * no blank, no '+', no empty text, no overflow. Returns 0, or -1 and leaves
 * the result untouched.
 */
#ifndef GL_BASE_NUMBER_H
#define GL_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int number_u64 (const char *text, size_t length, uint64_t *ret_value);
int number_i64 (const char *text, size_t length, int64_t *ret_value);
/* The same for a NUL-terminated text. */
int number_u64_text (const char *text, uint64_t *ret_value);
int number_i64_text (const char *text, int64_t *ret_value);

/* A decimal with a fraction and an exponent, as "1.2e9" or "12.50": what is before
 * the point of the exact value, and whether there is nothing but zeros behind it.
 * -1: not such a number, or 2^64 and more. */
int number_decimal (const char *text, size_t length, uint64_t *ret_whole,
                    bool *ret_exact);

/* Writes the number with at least `digits` digits, zeros in front; returns the length,
 * at most NUMBER_MAX or `digits`. No NUL. For loops in which printf takes its time. */
#define NUMBER_MAX 20
size_t number_write (char *to, uint64_t value, size_t digits);

#endif /* !GL_BASE_NUMBER_H */
