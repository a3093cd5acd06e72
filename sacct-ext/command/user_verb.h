/*
 * user_verb.h: what tag, mine and price share: whether they work here, beside a
 * store, or ask the collector; for whom; and printing its answer.
 */
#ifndef GL_USER_VERB_H
#define GL_USER_VERB_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "users/user_words.h"

/* Of the verbs' option tables. */
enum { USER_FOR = CLI_LONG + 700 };
#define USER_FOR_OPTION                                         \
    {                                                           \
        USER_FOR, "for", "USER",                                \
            "with a store, for root: as this user, with that\n" \
            "user's rights"                                     \
    }

/* The store is at hand: --store was given, or root has the default one. */
bool user_verb_here (const cli_t *cli);

/* Whoever runs this, or `name`. NULL with the reason told. The text is
 * static. */
const char *user_verb_person (cli_t *cli, const char *name, uid_t *ret_uid);

/* An output option as a word of the question; options of the table that are
 * about this host's files have none. -1 with the reason told. */
int user_verb_output_word (cli_t *cli, user_words_t *words, int option,
                           const char *value);
/* Any other word. 0, or -1 with the reason told and cli->exit_code set. */
int user_verb_word (cli_t *cli, user_words_t *words, const char *name,
                    const char *value);

/* A collector is not asked on behalf of somebody: told, and an exit code,
 * unless `person` (of --for) is NULL. */
int user_verb_not_for (cli_t *cli, const char *person);

/* Ask the collector and print its answer. Returns an exit code. */
int user_verb_ask (cli_t *cli, verb_code_t verb, const user_words_t *words,
                   const output_t *output);

#endif /* !GL_USER_VERB_H */
