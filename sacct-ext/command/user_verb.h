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

/* Row of a verb's option table; the member is a const char *. */
#define USER_FOR_OPTION(type, member)                           \
    {                                                           \
        0, "for", "USER",                                       \
            "with a store, for root: as this user, with that\n" \
            "user's rights",                                    \
            CLI_AT (type, member)                               \
    }

/* The store is at hand: --store was given, or root has that of the configuration, which
 * is looked at if it is loaded, or the default one. */
bool user_verb_here (const cli_t *cli);

/* Whoever runs this, or `name`. NULL with the reason told. The text is
 * static. */
const char *user_verb_person (cli_t *cli, const char *name, uid_t *ret_uid);

/* A collector is not asked on behalf of somebody: told, and an exit code,
 * unless `person` (of --for) is NULL. */
int user_verb_not_for (cli_t *cli, const char *person);

/* Ask the collector and print its answer. `words`: the operands; the options of
 * the command line are added. Returns an exit code. */
int user_verb_ask (cli_t *cli, verb_code_t verb, user_words_t *words,
                   const output_t *output);

#endif /* !GL_USER_VERB_H */
