#include "support/test.h"

#include "support/config_site.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "config/schema.h"

TEST_CASE (config_print_default__live__is_a_valid_site)
{
    BUFFER_AUTO text = BUFFER_INIT;
    size_t count;
    const schema_kind_t *const *kinds = schema_kinds (&count);
    site_t *site;

    config_print_default (&text, true);
    site = load_site (buffer_text (&text));
    for (size_t i = 0; i < count; i++) {
        if (kinds[i]->size)
            assert_int_equal (*(size_t *)((char *)site + kinds[i]->counter), 1);
    }
    check_number (site->assets[0].salvage, "42500");
    site_free (site);
}

TEST_CASE (config_print_default__commented__changes_nothing)
{
    BUFFER_AUTO text = BUFFER_INIT;
    site_t *site;

    config_print_default (&text, false);
    for (char *line = strtok (text.data, "\n"); line;
         line = strtok (NULL, "\n")) {
        assert_int_equal (line[strspn (line, " ")], '#');
        assert_in_range (strlen (line), 1, 110);
    }
    buffer_clear (&text);
    config_print_default (&text, false);
    site = load_site (buffer_text (&text));
    assert_int_equal (site->pool_count, 0);
    site_free (site);
}

TEST_CASE (config_print_man__names_every_key)
{
    BUFFER_AUTO text = BUFFER_INIT;
    size_t count, items = 0;
    const schema_kind_t *const *kinds = schema_kinds (&count);

    config_print_man (&text);
    for (size_t i = 0; i < count; i++) {
        char *head = xasprintf (".Ss %s\n", kinds[i]->name);
        const char *at = strstr (buffer_text (&text), head);
        assert_non_null (at);
        for (size_t k = 0; k < kinds[i]->key_count; k++) {
            char *item = xasprintf (".It Ic %s\n", kinds[i]->keys[k].name);
            at = strstr (at, item);
            assert_non_null (at);
            free (item);
            items++;
        }
        free (head);
    }
    assert_in_range (items, 60, 1000);
}

TEST_MAIN (NULL, NULL)
