#include "support/test.h"

#include "support/config_site.h"

#include "base/buffer.h"
#include "base/memory.h"

static char *repeat (const char *text, size_t count)
{
    BUFFER_AUTO b = BUFFER_INIT;

    for (size_t i = 0; i < count; i++)
        buffer_add_text (&b, text);
    return buffer_take (&b);
}

/* Each would cost far more than its size if it were taken at its word. */
TEST_CASE (config_load_text__bombs__are_refused_quickly)
{
    static const struct {
        const char *piece;
        size_t count;
        const char *expected;
    } bombs[] = {
        {"[", 500000, "levels deep"},
        {"{a: ", 200000, "levels deep"},
        {"- ", 500000, "levels deep"},
        {"x", CONFIG_FILE_MAX + 1, "larger than"},
    };
    BUFFER_AUTO keys = BUFFER_INIT;
    gl_error_t error;
    site_t *site;

    for (size_t i = 0; i < GL_ARRAY_SIZE (bombs); i++) {
        char *text = repeat (bombs[i].piece, bombs[i].count);
        assert_int_equal (
            config_load_text ("t.yaml", text, strlen (text), &site, &error),
            -1);
        if (!strstr (error.text, bombs[i].expected))
            fail_msg ("%s", error.text);
        free (text);
    }
    for (int i = 0; i < 100000; i++)
        buffer_printf (&keys, "k%d: 1\n", i);
    assert_int_equal (
        config_load_text ("t.yaml", keys.data, keys.length, &site, &error), -1);
    assert_non_null (strstr (error.text, "more than 4096 keys"));
}

/* Bytes replaced, removed and doubled: a site or a message, under sanitizers
 * without a leak. */
TEST_CASE (config_load_text__damaged_texts__end_in_a_message)
{
    static const char bytes[] = "\n \t-:,[]{}#&*!|>'\"%@`\\\xff\xc3\0a09";
    uint64_t seed = 1181783497276652981ull;
    char *text = xmalloc (2 * sizeof (pinned_site));
    size_t refused = 0;

    for (int i = 0; i < 1500; i++) {
        size_t length = sizeof (pinned_site) - 1;
        gl_error_t error = {""};
        site_t *site;
        memcpy (text, pinned_site, sizeof (pinned_site));
        for (int k = 0; k < 1 + i % 4; k++) {
            uint64_t r = seed = seed * 6364136223846793005ull + 1442695041ull;
            size_t at = (r >> 33) % length;
            if (r >> 63)
                text[at] = bytes[(r >> 20) % (sizeof (bytes) - 1)];
            else
                memmove (text + at, text + at + 1, --length - at);
        }
        if (config_load_text ("t.yaml", text, length, &site, &error) == 0)
            site_free (site);
        else {
            assert_non_null (strstr (error.text, "t.yaml:"));
            refused++;
        }
    }
    assert_in_range (refused, 100, 1500);
    free (text);
}

TEST_MAIN (NULL, NULL)
