/* replay_word.h: the words of a replay file, and their values. Pure: the reader
 * names the line of a word. */
#ifndef GL_AGENT_REPLAY_WORD_H
#define GL_AGENT_REPLAY_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of the text; not NUL-terminated. */
typedef struct {
    const char *text;
    size_t length;
} word_t;

bool word_is (word_t word, const char *text);
/* Letters, digits, '.', '_' and '-', at most `longest` of them. */
bool word_is_name (word_t word, size_t longest);

/* Take the next word from the line; blanks within "..." belong to it. False at
 * the line's end or a comment. */
bool word_next (word_t *line, word_t *ret_word);
/* key=value; a word without '=' is a key without a value (text NULL). */
void word_split (word_t word, word_t *ret_key, word_t *ret_value);
/* Without the quotes around it. */
word_t word_unquoted (word_t word);

/* Each returns false for an invalid word. A value above 63 bits is read as
 * INT64_MAX, because drivers' counters are unsigned. */
bool word_count (word_t word, int64_t *ret);
bool word_bits (word_t word, int64_t *ret); /* 0x..., or decimal */
/* Hundredths of a percent, from at most two decimals. */
bool word_percent (word_t word, int64_t *ret);
/* Nanoseconds: 90s, 1.5s, 10m, 1h, 2d. */
bool word_duration (word_t word, int64_t *ret);
/* Nanoseconds since 1970: 2026-10-01T00:00:00Z, at most nine decimals. */
bool word_instant (word_t word, int64_t *ret);

#endif /* !GL_AGENT_REPLAY_WORD_H */
