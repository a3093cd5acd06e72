#include "support/test.h"

#include "base/memory.h"
#include "base/nearest.h"

static const char *const names[] = {"month", "months", "store", "strict", "by"};

TEST_CASE (nearest__typed_words__find_their_name_or_none)
{
    char word[200];
    static const struct {
        const char *typed, *name;
    } cases[] = {
        {"month", "month"},   {"moth", "month"},     {"monht", "month"},
        {"monts", "month"},   {"monthss", "months"}, {"stroe", "store"},
        {"strct", "strict"},  {"b", "by"},           {"xy", "by"},
        {"", NULL},           {"xx", NULL},          {"colour", NULL},
        {"mnt", "month"},     {"mn", NULL},          {"MONTH", "month"},
        {"Months", "months"}, {"STORRE", "store"},   {"BY", "by"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        nearest_t nearest = {.word = cases[i].typed};
        for (size_t k = 0; k < GL_ARRAY_SIZE (names); k++)
            nearest_offer (&nearest, names[k]);
        if (cases[i].name)
            assert_string_equal (nearest.name, cases[i].name);
        else
            assert_null (nearest.name);
    }
    memset (word, 'x', sizeof (word));
    word[sizeof (word) - 1] = '\0';
    nearest_t nearest = {.word = word};
    nearest_offer (&nearest, word);
    assert_null (nearest.name); /* longer than any name of ours */
}

TEST_MAIN (NULL, NULL)
