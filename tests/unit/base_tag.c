#include "support/test.h"

#include "base/tag.h"

TEST_CASE (tag__table_of_texts__valid_or_not)
{
    static const struct {
        const char *text;
        int valid;
    } cases[] = {
        {"a", 1},       {"alpha", 1},   {"A1._-", 1},  {"7b", 1},
        {"", 0},        {".a", 0},      {"-a", 0},     {"_a", 0},
        {"a b", 0},     {"a\n", 0},     {"=cmd", 0},   {"../x", 0},
        {"a/b", 0},     {"a\x1b[0m", 0}, {"a'b", 0},   {"\xc3\xa9", 0},
    };
    char longest[TAG_MAX + 2];

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++)
        assert_int_equal (tag_valid (cases[i].text, strlen (cases[i].text)),
                          cases[i].valid);
    memset (longest, 'x', sizeof (longest));
    assert_true (tag_valid (longest, TAG_MAX));
    assert_false (tag_valid (longest, TAG_MAX + 1));
}

TEST_CASE (labels__table_of_texts__problem_or_none)
{
    static const struct {
        const char *text;
        int valid;
    } cases[] = {
        {"a=b", 1},
        {"cost-center=CC-1,experiment-id=e7", 1},
        {"a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8", 1},
        {"a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9", 0},
        {"", 0},
        {"a", 0},
        {"a=", 0},
        {"=b", 0},
        {"a=b,", 0},
        {"a=b,,c=d", 0},
        {"a=b=c", 0},
        {"a=b,a=c", 0},
        {"a=b\n", 0},
    };

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++)
        assert_int_equal (labels_problem (cases[i].text) == NULL,
                          cases[i].valid);
}

TEST_CASE (labels__a_megabyte__is_refused)
{
    size_t size = 1 << 20;
    char *text = malloc (size);

    memset (text, 'a', size);
    text[1] = '=';
    text[size - 1] = '\0';
    assert_non_null (labels_problem (text));
    free (text);
}

TEST_CASE (labels__a_pair_without_a_value__the_sign_is_named)
{
    assert_non_null (strstr (labels_problem ("a=1,foo"), "no '='"));
    assert_non_null (strstr (labels_problem ("foo="), "a value"));
}

TEST_MAIN (NULL, NULL)
