/* From a user's question to the arguments of a process of the collector. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "users/user_words.h"

static const char *const before[] = {"--config", "/etc/x.yaml", NULL};

/* The arguments with '|' between them, or "!why". */
static const char *arguments (unsigned verb, const char *user,
                              const char *const *texts, size_t count)
{
    static char text[8192];
    gl_error_t error;
    char **argv;

    if (user_arguments (verb, "gpuledger", before, user, texts, count, &argv,
                        &error)
        < 0) {
        snprintf (text, sizeof (text), "!%s", error.text);
        return text;
    }
    text[0] = '\0';
    for (size_t i = 0; argv[i]; i++) {
        strcat (text, i ? "|" : "");
        strcat (text, argv[i]);
    }
    user_arguments_free (argv);
    return text;
}

TEST_CASE (words__of_each_verb__become_its_options)
{
    static const char *const tag[]
        = {"job=4711_3", "project=alpha", "label=a=b,c=d", "submit=@5"};
    static const char *const mine[]
        = {"month=-3", "csv", "format=a,b", "sort=-charge", "limit=5"};
    static const char *const price[] = {"gres=gpu:h100:4", "time=1-0"};

    assert_string_equal (arguments (VERB_TAG, "ann", tag, 4),
                         "gpuledger|--config|/etc/x.yaml|tag|--for=ann|"
                         "--label=a=b,c=d|--submit=@5|--|4711_3|alpha");
    assert_string_equal (arguments (VERB_MINE, "ann", mine, 5),
                         "gpuledger|--config|/etc/x.yaml|mine|--for=ann|"
                         "--month=-3|--csv|--format=a,b|--sort=-charge|"
                         "--limit=5");
    assert_string_equal (arguments (VERB_PRICE, NULL, price, 2),
                         "gpuledger|--config|/etc/x.yaml|price|"
                         "--gres=gpu:h100:4|--time=1-0");
}

TEST_CASE (words__that_would_be_options__stay_values)
{
    static const char *const operand[] = {"job=--store", "project=--for=root"};
    static const char *const value[] = {"by=--for=root", "month=--output=/x"};

    assert_string_equal (arguments (VERB_TAG, "ann", operand, 2),
                         "gpuledger|--config|/etc/x.yaml|tag|--for=ann|--|"
                         "--store|--for=root");
    assert_string_equal (arguments (VERB_MINE, "ann", value, 2),
                         "gpuledger|--config|/etc/x.yaml|mine|--for=ann|"
                         "--by=--for=root|--month=--output=/x");
}

TEST_CASE (words__not_in_the_table__are_refused)
{
    static char longest[USER_WORD_MAX + 16];
    const char *const bad[] = {"for=root",
                               "--for=root",
                               "output=/etc/passwd",
                               "store=sqlite:x",
                               "config=/x",
                               "csv=1",
                               "month",
                               "",
                               "=",
                               "=x",
                               "user=bob",
                               "CSV",
                               "month=a\nb",
                               "by=\x1b[m",
                               "month =2026-10",
                               longest};

    memset (longest, 'a', sizeof (longest) - 1);
    memcpy (longest, "month=", 6);
    for (size_t i = 0; i < GL_ARRAY_SIZE (bad); i++) {
        const char *answer = arguments (VERB_MINE, "ann", &bad[i], 1);
        if (answer[0] != '!')
            fail_msg ("'%s' gives %s", bad[i], answer);
    }
    assert_string_equal (arguments (VERB_BATCH, "ann", NULL, 0),
                         "!the collector knows no such verb");
}

TEST_CASE (user__that_could_be_read_otherwise__is_refused)
{
    static const char *const names[] = {NULL, "", "a,b", "-x", "a b", "a\nb"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (names); i++) {
        assert_int_equal (arguments (VERB_MINE, names[i], NULL, 0)[0], '!');
        assert_int_equal (arguments (VERB_TAG, names[i], NULL, 0)[0], '!');
    }
}

TEST_CASE (question__too_many_or_too_long__is_refused)
{
    static char longest[USER_WORD_MAX + 2];
    user_words_t words = {.count = 0};

    memset (longest, 'a', sizeof (longest) - 1);
    assert_int_equal (user_words_add (&words, VERB_MINE, "by", longest, NULL),
                      -1);
    for (int i = 0; i < TEXTS_MAX; i++)
        assert_int_equal (user_words_add (&words, VERB_MINE, "csv", NULL, NULL),
                          0);
    assert_int_equal (user_words_add (&words, VERB_MINE, "csv", NULL, NULL),
                      -1);
    /* what the verb does not send takes no room */
    assert_int_equal (user_words_add (&words, VERB_MINE, "output", "x", NULL),
                      0);
    user_words_done (&words);
}

TEST_MAIN (NULL, NULL)
