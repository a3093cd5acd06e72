#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "config/overlay.h"

/* The same values of the same naming keys: "a, b" may be one value or two. */
static bool same_entry (const schema_kind_t *kind, const tree_t *a,
                        const tree_t *b)
{
    bool named = false;

    if (a->type != TREE_MAPPING || b->type != TREE_MAPPING)
        return false;
    for (size_t i = 0; i < kind->key_count; i++) {
        const char *name = kind->keys[i].name;
        const tree_t *x, *y;
        if (!(kind->keys[i].flags & SCHEMA_IDENTITY))
            continue;
        x = tree_get (a, name, NULL);
        y = tree_get (b, name, NULL);
        if (!x && !y)
            continue;
        if (!x || !y || x->type != TREE_TEXT || y->type != TREE_TEXT
            || strcmp (x->text, y->text) != 0)
            return false;
        named = true;
    }
    return named;
}

static bool names_entry (const schema_kind_t *kind, const tree_t *list,
                         const tree_t *entry)
{
    return GL_ANY (list->item, list->count, it, same_entry (kind, *it, entry));
}

static void take_out_entries (const schema_kind_t *kind, tree_t *list,
                              const tree_t *overlay)
{
    for (size_t i = list->count; i-- > 0;)
        if (names_entry (kind, overlay, list->item[i]))
            tree_remove (list, i, 1);
}

static void take_out_keys (tree_t *mapping, const tree_t *overlay)
{
    for (size_t i = mapping->count; i >= 2; i -= 2)
        if (tree_get (overlay, mapping->item[i - 2]->text, NULL))
            tree_remove (mapping, i - 2, 2);
}

void overlay_take_out (tree_t *tree, const tree_t *overlay)
{
    if (!tree || !overlay || tree->type != TREE_MAPPING
        || overlay->type != TREE_MAPPING)
        return;
    for (size_t i = 0; i + 1 < tree->count; i += 2) {
        const schema_kind_t *kind = schema_kind (tree->item[i]->text);
        const tree_t *by
            = kind ? tree_get (overlay, tree->item[i]->text, NULL) : NULL;
        tree_t *value = tree->item[i + 1];
        if (!by || by->type != value->type)
            continue;
        if (kind->size && value->type == TREE_LIST)
            take_out_entries (kind, value, by);
        else if (!kind->size && value->type == TREE_MAPPING)
            take_out_keys (value, by);
    }
}
