#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "users/user_words.h"

/* --- the table --------------------------------------------------------- */

enum word_kind {
    WITH_VALUE, /* --option=VALUE */
    ALONE,      /* --option */
    OPERAND,
};

struct word {
    const char *name;
    const char *option;
    enum word_kind kind;
};

#define OUTPUT_WORDS                                                       \
    {"parsable2", "--parsable2", ALONE}, {"csv", "--csv", ALONE},          \
        {"json", "--json", ALONE}, {"html", "--html", ALONE},              \
        {"noheader", "--noheader", ALONE}, {"sort", "--sort", WITH_VALUE}, \
        {"limit", "--limit", WITH_VALUE},                                  \
    {                                                                      \
        "fields", "--format", WITH_VALUE                                   \
    }

static const struct word tag_words[] = {
    {"job", NULL, OPERAND},
    {"project", NULL, OPERAND},
    {"submit", "--submit", WITH_VALUE},
    {"label", "--label", WITH_VALUE},
    {"cluster", "--cluster", WITH_VALUE},
};

static const struct word mine_words[] = {
    {"month", "--month", WITH_VALUE},
    {"start", "--starttime", WITH_VALUE},
    {"end", "--endtime", WITH_VALUE},
    {"by", "--by", WITH_VALUE},
    OUTPUT_WORDS,
};

static const struct word price_words[] = {
    {"partition", "--partition", WITH_VALUE},
    {"gres", "--gres", WITH_VALUE},
    {"gpus", "--gpus", WITH_VALUE},
    {"gpus-per-node", "--gpus-per-node", WITH_VALUE},
    {"time", "--time", WITH_VALUE},
    {"nodes", "--nodes", WITH_VALUE},
    {"qos", "--qos", WITH_VALUE},
    {"account", "--account", WITH_VALUE},
    {"cluster", "--cluster", WITH_VALUE},
    {"pool", "--pool", WITH_VALUE},
    {"at", "--at", WITH_VALUE},
    OUTPUT_WORDS,
};

static const struct verb {
    unsigned code;
    const char *name;
    bool personal; /* takes --for */
    const struct word *words;
    size_t count;
} verbs[] = {
    {VERB_TAG, "tag", true, tag_words, GL_ARRAY_SIZE (tag_words)},
    {VERB_MINE, "mine", true, mine_words, GL_ARRAY_SIZE (mine_words)},
    {VERB_PRICE, "price", false, price_words, GL_ARRAY_SIZE (price_words)},
};

static const struct verb *find_verb (unsigned code)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (verbs); i++) {
        if (verbs[i].code == code)
            return &verbs[i];
    }
    return NULL;
}

/* --- the asking side --------------------------------------------------- */

int user_words_add (user_words_t *words, const char *name, const char *value,
                    gl_error_t *error)
{
    if (words->count == TEXTS_MAX)
        return gl_error (error, "too many words in one question");
    if (value && strlen (value) > USER_WORD_MAX)
        return gl_error (error, "the value of '%s' is longer than %d bytes",
                         name, USER_WORD_MAX);
    words->text[words->count++]
        = value ? xasprintf ("%s=%s", name, value) : xstrdup (name);
    return 0;
}

void user_words_done (user_words_t *words)
{
    for (size_t i = 0; i < words->count; i++)
        free (words->text[i]);
    words->count = 0;
}

/* --- the answering side ------------------------------------------------ */

struct arguments {
    char **item;
    size_t count;
};

static void add (struct arguments *a, char *text)
{
    a->item = xreallocarray (a->item, a->count + 2, sizeof (*a->item));
    a->item[a->count++] = text;
    a->item[a->count] = NULL;
}

static bool is_printable (const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ' || c == 0x7f)
            return false;
    }
    return true;
}

/* A name with a comma would be two in a filter. */
static bool is_user (const char *user)
{
    return user && user[0] && user[0] != '-' && is_printable (user)
           && strlen (user) <= 128 && !strpbrk (user, ", =/");
}

static const struct word *find_word (const struct verb *verb, const char *text,
                                     size_t length)
{
    for (size_t i = 0; i < verb->count; i++) {
        const char *name = verb->words[i].name;
        if (strlen (name) == length && memcmp (name, text, length) == 0)
            return &verb->words[i];
    }
    return NULL;
}

static int add_word (struct arguments *options, struct arguments *operands,
                     const struct verb *verb, const char *text,
                     gl_error_t *error)
{
    const char *equals = strchrnul (text, '=');
    const struct word *word = find_word (verb, text, (size_t)(equals - text));
    const char *value = *equals ? equals + 1 : NULL;

    if (!word || (word->kind == ALONE) != (value == NULL))
        return gl_error (error, "'%.*s' is no word of %s",
                         (int)strnlen (text, 40), text, verb->name);
    if (value && (strlen (value) > USER_WORD_MAX || !is_printable (value)))
        return gl_error (error,
                         "the value of '%s' is not printable, or too "
                         "long",
                         word->name);
    if (word->kind == OPERAND)
        add (operands, xstrdup (value));
    else
        add (options, value ? xasprintf ("%s=%s", word->option, value)
                            : xstrdup (word->option));
    return 0;
}

static int add_words (struct arguments *a, const struct verb *verb,
                      const char *const *texts, size_t count, gl_error_t *error)
{
    struct arguments operands = {0};
    int rc = 0;

    for (size_t i = 0; i < count && rc == 0; i++)
        rc = add_word (a, &operands, verb, texts[i], error);
    if (operands.count)
        add (a, xstrdup ("--"));
    for (size_t i = 0; i < operands.count; i++)
        add (a, operands.item[i]);
    free (operands.item);
    return rc;
}

int user_arguments (unsigned code, const char *program,
                    const char *const *before, const char *user,
                    const char *const *texts, size_t count, char ***ret_argv,
                    gl_error_t *error)
{
    const struct verb *verb = find_verb (code);
    struct arguments a = {0};

    if (!verb)
        return gl_error (error, "the collector knows no such verb");
    if (verb->personal && !is_user (user))
        return gl_error (error, "your user id has no name on the collector's "
                                "host");
    add (&a, xstrdup (program));
    for (; *before; before++)
        add (&a, xstrdup (*before));
    add (&a, xstrdup (verb->name));
    if (verb->personal)
        add (&a, xasprintf ("--for=%s", user));
    if (add_words (&a, verb, texts, count, error) < 0) {
        user_arguments_free (a.item);
        return -1;
    }
    *ret_argv = a.item;
    return 0;
}

void user_arguments_free (char **argv)
{
    for (size_t i = 0; argv && argv[i]; i++)
        free (argv[i]);
    free (argv);
}
