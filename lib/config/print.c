#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "config/config.h"
#include "config/schema.h"

#define LINE_WIDTH 78

/* A paragraph as comment lines of at most LINE_WIDTH columns. */
static void add_comment (buffer_t *out, const char *indent, const char *text)
{
    size_t column = 0;

    while (*text) {
        size_t word = strcspn (text, " ");
        if (column == 0 || column + 1 + word > LINE_WIDTH) {
            buffer_printf (out, "%s%s#", column ? "\n" : "", indent);
            column = strlen (indent) + 1;
        }
        buffer_add_char (out, ' ');
        buffer_add (out, text, word);
        column += word + 1;
        text += word + strspn (text + word, " ");
    }
    buffer_add_char (out, '\n');
}

static void add_key (buffer_t *out, const schema_key_t *key, const char *off,
                     const char *indent)
{
    add_comment (out, "    ", key->help);
    if (key->example)
        buffer_printf (out, "%s%s%s: %s\n", off, indent, key->name,
                       key->example);
    else
        buffer_printf (out, "#%s%s:\n", indent, key->name);
}

void config_print_default (buffer_t *out, bool live)
{
    const char *off = live ? "" : "#";
    size_t count;
    const schema_kind_t *const *kinds = schema_kinds (&count);

    add_comment (out, "",
                 "gpuledger.yaml: what the cluster costs and how that is "
                 "charged. Every key is here; gpuledger.yaml(5) is made from "
                 "the same list.");
    for (size_t i = 0; i < count; i++) {
        buffer_add_char (out, '\n');
        add_comment (out, "", kinds[i]->help);
        buffer_printf (out, "%s%s:\n", off, kinds[i]->name);
        for (size_t k = 0; k < kinds[i]->key_count; k++)
            add_key (out, &kinds[i]->keys[k], off,
                     kinds[i]->size && k == 0 ? "  - " : "    ");
    }
}

/* A word of mdoc text: a leading dot or quote would be a request, a backslash
 * an escape. */
static void add_roff_word (buffer_t *out, const char *word, size_t length,
                           bool begins_line)
{
    if (begins_line && (*word == '.' || *word == '\''))
        buffer_add_text (out, "\\&");
    for (size_t i = 0; i < length; i++) {
        if (word[i] == '\\')
            buffer_add_text (out, "\\e");
        else
            buffer_add_char (out, word[i]);
    }
}

/* Text for mdoc: each sentence begins a line, which is broken at blanks. */
static void add_roff (buffer_t *out, const char *text)
{
    size_t column = 0;
    bool sentence = false;

    while (*text) {
        size_t word = strcspn (text, " ");
        if (column > 0) {
            bool wrap = sentence || column + 1 + word > LINE_WIDTH;
            buffer_add_char (out, wrap ? '\n' : ' ');
            column = wrap ? 0 : column + 1;
        }
        add_roff_word (out, text, word, column == 0);
        column += word;
        sentence = word > 0 && text[word - 1] == '.';
        text += word + strspn (text + word, " ");
    }
    buffer_add_char (out, '\n');
}

static void add_value (buffer_t *out, const schema_key_t *key)
{
    BUFFER_AUTO text = BUFFER_INIT;

    buffer_add_text (&text, "Value: ");
    if (key->type != VALUE_WORD)
        buffer_add_text (&text, schema_type_text (key->type));
    else {
        buffer_add_text (&text, "one of");
        for (const schema_word_t *w = key->words; w->word; w++)
            buffer_printf (&text, "%s %s", w == key->words ? "" : ",", w->word);
    }
    buffer_add_char (&text, '.');
    add_roff (out, buffer_text (&text));
}

static void add_items (buffer_t *out, const schema_kind_t *kind);

static const schema_kind_t *entries_of (const schema_key_t *key)
{
    return key->type == VALUE_ENTRIES ? schema_entries (key) : NULL;
}

/* An earlier key of the kind has entries with the same keys. */
static bool is_described (const schema_kind_t *kind, const schema_key_t *key)
{
    for (const schema_key_t *k = kind->keys; k < key; k++)
        if (entries_of (k) && entries_of (k)->keys == entries_of (key)->keys)
            return true;
    return false;
}

static void add_item (buffer_t *out, const schema_kind_t *kind,
                      const schema_key_t *key)
{
    const schema_kind_t *entries = entries_of (key);

    buffer_printf (out, ".It Ic %s\n", key->name);
    add_roff (out, key->help);
    add_value (out, key);
    if (key->refers && !entries)
        buffer_printf (out, "Must be a name in\n.Ic %s .\n", key->refers);
    if (key->flags & SCHEMA_REQUIRED)
        buffer_add_text (out, "Required.\n");
    if (entries && !is_described (kind, key))
        add_items (out, entries);
}

static void add_items (buffer_t *out, const schema_kind_t *kind)
{
    buffer_add_text (out, ".Bl -tag -width Ds\n");
    for (size_t k = 0; k < kind->key_count; k++)
        add_item (out, kind, &kind->keys[k]);
    buffer_add_text (out, ".El\n");
}

void config_print_man (buffer_t *out)
{
    size_t count;
    const schema_kind_t *const *kinds = schema_kinds (&count);

    for (size_t i = 0; i < count; i++) {
        buffer_printf (out, ".Ss %s\n", kinds[i]->name);
        add_roff (out, kinds[i]->help);
        buffer_add_text (out, kinds[i]->size ? "A list.\n" : "One mapping.\n");
        add_items (out, kinds[i]);
    }
    buffer_printf (out, ".Ss %s\n", schema_layout_kind ()->name);
    add_roff (out, schema_layout_kind ()->help);
    add_items (out, schema_layout_kind ());
}
