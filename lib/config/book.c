#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "config/book.h"
#include "config/book_staff.h"
#include "config/schema.h"

/* What never made a price: the kind, or one key of it. */
static const struct {
    const char *kind;
    const char *key; /* NULL: all of it */
} left_out[] = {
    {"collector", NULL}, {"agent", NULL},        {"networks", NULL},
    {"clouds", NULL},    {"clusters", "slurmdb"}, {"close", NULL},
    {"budgets", NULL},   {"analyses", NULL},     {"issuer", NULL},
};

static bool is_left_out (const char *kind, const char *key)
{
    return GL_ANY (left_out, GL_ARRAY_SIZE (left_out), it,
                   !strcmp (it->kind, kind)
                       && (!it->key || (key && !strcmp (it->key, key))));
}

/* In double quotes every text is itself. */
void book_add_text (buffer_t *out, const char *text)
{
    buffer_add_char (out, '"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            buffer_printf (out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            buffer_printf (out, "\\x%02x", c);
        else
            buffer_add_char (out, (char)c);
    }
    buffer_add_char (out, '"');
}

static void add_tree (buffer_t *out, const tree_t *tree)
{
    if (tree->type == TREE_TEXT) {
        book_add_text (out, tree->text);
        return;
    }
    buffer_add_char (out, tree->type == TREE_LIST ? '[' : '{');
    for (size_t i = 0; i < tree->count; i++) {
        if (i > 0)
            buffer_add_text (out, tree->type == TREE_MAPPING && i % 2 ? ": "
                                                                      : ", ");
        add_tree (out, tree->item[i]);
    }
    buffer_add_char (out, tree->type == TREE_LIST ? ']' : '}');
}

/* NULL: it is not there, or is written as a key of its own. */
static const tree_t *cpu_value (const schema_kind_t *kind,
                                const tree_t *mapping, const char *word)
{
    return word && !schema_key (kind, word) ? tree_get (mapping, word, NULL)
                                            : NULL;
}

/* The keys of one mapping, in the order of the table. */
static void add_mapping (buffer_t *out, const schema_kind_t *kind,
                         const tree_t *mapping, const char *before,
                         const char *between)
{
    for (size_t i = 0; i < kind->key_count; i++) {
        const char *name = kind->keys[i].name;
        const tree_t *value = tree_get (mapping, name, NULL);
        GL_AUTOFREE char *word = value ? NULL : schema_cpu_word (name);
        if (word && (value = cpu_value (kind, mapping, word)))
            name = word;
        if (!value || is_left_out (kind->name, name))
            continue;
        buffer_printf (out, "%s%s: ", before, name);
        add_tree (out, value);
        before = between;
    }
}

static void add_section (buffer_t *out, const schema_kind_t *kind,
                         const tree_t *section)
{
    if (section->type == TREE_MAPPING)
        add_mapping (out, kind, section, "\n  ", "\n  ");
    for (size_t i = 0; section->type == TREE_LIST && i < section->count; i++) {
        buffer_add_text (out, "\n  - {");
        add_mapping (out, kind, section->item[i], "", ", ");
        buffer_add_char (out, '}');
    }
}

/* One section as all documents have it. */
static void add_sections (buffer_t *out, const schema_kind_t *kind,
                          const tree_t *const *trees, size_t count)
{
    for (size_t d = 0; d < count; d++) {
        const tree_t *value
            = trees[d] ? tree_get (trees[d], kind->name, NULL) : NULL;
        if (value)
            add_section (out, kind, value);
    }
}

void book_text (const site_t *site, const tree_t *const *trees, size_t count,
                buffer_t *out)
{
    size_t kind_count;
    const schema_kind_t *const *kinds = schema_kinds (&kind_count);

    for (size_t i = 0; i < kind_count; i++) {
        BUFFER_AUTO section = BUFFER_INIT;
        if (is_left_out (kinds[i]->name, NULL))
            continue;
        if (!strcmp (kinds[i]->name, "staff"))
            book_staff (site, &section);
        else
            add_sections (&section, kinds[i], trees, count);
        if (section.length)
            buffer_printf (out, "%s:%s\n", kinds[i]->name,
                           buffer_text (&section));
    }
}
