#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "users/user_words.h"

/* --- the table --------------------------------------------------------- */

#define OUTPUT_SWITCHES "parsable2 csv json html noheader"
#define OUTPUT_OPTIONS "sort limit format"

/* Its words, as the command line has them. */
static const struct verb {
    unsigned code;
    const char *name;
    bool personal;        /* takes --for */
    const char *operands; /* NAME=VALUE, given as VALUE */
    const char *options;  /* NAME=VALUE, given as --NAME=VALUE */
    const char *switches; /* NAME, given as --NAME */
} verbs[] = {
    {VERB_TAG, "tag", true, "job project", "submit label cluster", ""},
    {VERB_UNITS, "units", true, "job units", "submit cluster", ""},
    {VERB_MINE, "mine", true, "", "month starttime endtime by " OUTPUT_OPTIONS,
     OUTPUT_SWITCHES},
    {VERB_PRICE, "price", false, "",
     "partition gres gpus gpus-per-node time nodes ntasks ntasks-per-node "
     "cpus-per-task cpus-per-gpu mem mem-per-cpu mem-per-gpu qos reservation "
     "account cluster pool at " OUTPUT_OPTIONS,
     OUTPUT_SWITCHES},
};

static const struct verb *find_verb (unsigned code)
{
    return GL_FIND (verbs, GL_ARRAY_SIZE (verbs), it, it->code == code);
}

static bool is_word (const char *words, const char *text, size_t length)
{
    for (size_t n; *words; words += n + (words[n] == ' ')) {
        n = strcspn (words, " ");
        if (n == length && memcmp (words, text, n) == 0)
            return true;
    }
    return false;
}

/* --- the asking side --------------------------------------------------- */

int user_words_add (user_words_t *words, verb_code_t code, const char *name,
                    const char *value, gl_error_t *error)
{
    const struct verb *verb = find_verb (code);
    size_t length = strlen (name);

    if (!is_word (verb->operands, name, length)
        && !is_word (verb->options, name, length)
        && !is_word (verb->switches, name, length))
        return 0;
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

static int add_word (struct arguments *options, struct arguments *operands,
                     const struct verb *verb, const char *text,
                     gl_error_t *error)
{
    const char *equals = strchrnul (text, '=');
    int length = (int)(equals - text);
    bool operand = *equals && is_word (verb->operands, text, length);

    if (!operand
        && !is_word (*equals ? verb->options : verb->switches, text, length))
        return gl_error (error, "'%.*s' is not a word of %s",
                         (int)strnlen (text, 40), text, verb->name);
    if (*equals
        && (strlen (equals + 1) > USER_WORD_MAX || !is_printable (equals)))
        return gl_error (error,
                         "the value of '%.*s' is not printable, or too "
                         "long",
                         length, text);
    if (operand)
        add (operands, xstrdup (equals + 1));
    else
        add (options, xasprintf ("--%s", text));
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
