/*
 * user_words.h: what a user may ask the collector for, word by word: the one
 * table that both sides share.
 *
 * A request is a list of texts, "NAME=VALUE" or "NAME". The collector answers a
 * user verb by running the installed command with arguments made from them: a
 * text that is not in the table of its verb is refused, so that nobody hands an
 * option of their own to a process of root's.
 */
#ifndef GL_USER_WORDS_H
#define GL_USER_WORDS_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "wire/frame.h"

/* A value longer than this says nothing that a user verb asks for. */
#define USER_WORD_MAX 600

/* The texts of a request in the making. user_words_done() frees. */
typedef struct {
    char *text[TEXTS_MAX];
    size_t count;
} user_words_t;

/* An option of the verb by its name, or an operand; one that it does not send is
 * left out. `value` NULL: it has none. -1 when there are too many. */
int user_words_add (user_words_t *words, verb_code_t verb, const char *name,
                    const char *value, gl_error_t *error);
void user_words_done (user_words_t *words);

/*
 * The arguments of the command that answers it: `gpuledger` and what `before`
 * holds (--config ..., ended by NULL), the verb, --for=USER where the verb is
 * about a person, then the texts as options and operands. *ret_argv is ended by
 * NULL; free it with user_arguments_free(). -1 for a text that is not in the
 * table, too long, or not printable; for a user name that could be read as
 * anything else.
 */
int user_arguments (unsigned verb, const char *program,
                    const char *const *before, const char *user,
                    const char *const *texts, size_t count, char ***ret_argv,
                    gl_error_t *error);
void user_arguments_free (char **argv);

#endif /* !GL_USER_WORDS_H */
