#include <limits.h>
#include <stddef.h>
#include <stdbool.h>
#include <string.h>

#include "args.h"

#define DEFAULT_SPOOL LOCALSTATEDIR "/spool/gpuledger"

static const char *const policy_words[] = {"off", "warn", "require", NULL};
static const char *const default_words[] = {"none", "account", NULL};

/* One row a key: a path, or one of some words (stored as its index). */
static const struct key {
    const char *name; /* with its '=' */
    const char *const *words;
    size_t offset;
    const char *expected;
} keys[] = {
    {"spool=", NULL, offsetof (args_t, spool), "an absolute path"},
    {"projects=", NULL, offsetof (args_t, projects), "an absolute path"},
    {"policy=", policy_words, offsetof (args_t, policy),
     "off, warn or require"},
    {"default=", default_words, offsetof (args_t, fallback), "account or none"},
};

static bool set_path (const char *value, const char **ret_path)
{
    if (value[0] != '/' || strlen (value) >= PATH_MAX)
        return false;
    *ret_path = value;
    return true;
}

static bool set_word (const char *value, const char *const *words,
                      int *ret_index)
{
    for (int i = 0; words[i]; i++) {
        if (strcmp (value, words[i]) == 0) {
            *ret_index = i;
            return true;
        }
    }
    return false;
}

static bool set (args_t *args, const struct key *key, const char *value)
{
    void *member = (char *)args + key->offset;

    return key->words ? set_word (value, key->words, member)
                      : set_path (value, member);
}

static const struct key *find (const char *word)
{
    for (size_t i = 0; i < sizeof (keys) / sizeof (keys[0]); i++) {
        if (strncmp (word, keys[i].name, strlen (keys[i].name)) == 0)
            return &keys[i];
    }
    return NULL;
}

void args_parse (args_t *args, int ac, char **av, args_report_f report)
{
    *args = (args_t){.spool = DEFAULT_SPOOL};
    for (int i = 0; i < ac && av; i++) {
        const struct key *key = find (av[i]);
        if (!key)
            report ("gpuledger: plugstack.conf: '%.100s' is not an argument of "
                    "this plugin (spool=, projects=, policy=, default=); "
                    "ignored",
                    av[i]);
        else if (!set (args, key, av[i] + strlen (key->name)))
            report ("gpuledger: plugstack.conf: '%.100s': %s expected; "
                    "ignored",
                    av[i], key->expected);
    }
}
