#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "config/book.h"
#include "config/check.h"
#include "config/config.h"
#include "config/overlay.h"
#include "config/schema.h"
#include "config/tree.h"
#include "config/value.h"

/* A file that was read: its name lives in site->files. */
struct document {
    const char *file;
    tree_t *tree; /* NULL: nothing but comments */
};

struct loader {
    site_t *site;
    struct document *document;
    size_t document_count;
    check_list_t list;
    gl_error_t *error;
};

/* Where the loader stands, for messages and places. */
struct cursor {
    struct loader *loader;
    const char *file;
    const schema_kind_t *kind;
    void *entry;
    bool of_cpus; /* what the entry is about is a pool of CPUs */
};

static int fail_at (const struct cursor *at, int line, const char *key)
{
    return gl_error_prefix (at->loader->error, "%s:%d: `%s`", at->file, line,
                            key);
}

/* ---- values ---- */

static int check_shape (const struct cursor *at, const schema_key_t *key,
                        const tree_t *value, tree_type_t wanted)
{
    gl_error_t *error = at->loader->error;

    if (value->type != wanted)
        return gl_error (error, "%s:%d: `%s` must be %s, not %s", at->file,
                         value->line, key->name, schema_type_text (key->type),
                         tree_type_name (value->type));
    if (wanted == TREE_TEXT && value->length == 0)
        return gl_error (error, "%s:%d: `%s` has no value", at->file,
                         value->line, key->name);
    if (wanted == TREE_TEXT && strlen (value->text) != value->length)
        return gl_error (error, "%s:%d: `%s` holds a NUL character", at->file,
                         value->line, key->name);
    return 0;
}

/* A key that refers to nothing takes any name. */
static void refer (const struct cursor *at, const schema_key_t *key,
                   const char *name, int line)
{
    check_reference_t reference = {.key = key->name, .place = {at->file, line}};

    if (!key->refers)
        return;
    reference.kind = schema_kind (key->refers);
    reference.name = xstrdup (name);
    reference.aliases = key->flags & SCHEMA_ALIASES;
    check_add_reference (&at->loader->list, reference);
}

/* A figure that nobody has filled in yet: it is noted, and the key's example takes its
 * place, so that all else can be checked. */
static bool is_to_fill (const struct cursor *at, const schema_key_t *key,
                        const tree_t *value)
{
    site_t *site = at->loader->site;

    if (strcmp (value->text, SITE_TODO) != 0 || !schema_is_figure (key))
        return false;
    *GL_APPEND (site->figures, site->figure_count)
        = (site_figure_t){.place = {at->file, value->line},
                          .kind = at->kind->name,
                          .key = xstrdup (key->name),
                          .help = key->help};
    return true;
}

/* What value_set() reads. */
static const char *text_of (const struct cursor *at, const schema_key_t *key,
                            const tree_t *value)
{
    if (is_to_fill (at, key, value))
        return key->example;
    return at->of_cpus && key->type == VALUE_WORD
                   && !strcmp (value->text, "cpu_hours")
               ? "gpu_hours"
               : value->text;
}

static int set_text (const struct cursor *at, const schema_key_t *key,
                     const tree_t *value)
{
    if (check_shape (at, key, value, TREE_TEXT) < 0)
        return -1;
    if (value_set (at->loader->site, key, at->entry, text_of (at, key, value),
                   at->loader->error)
        < 0)
        return fail_at (at, value->line, key->name);
    refer (at, key, value->text, value->line);
    return 0;
}

static int set_list (const struct cursor *at, const schema_key_t *key,
                     const tree_t *value)
{
    if (value->type == TREE_TEXT)
        return set_text (at, key, value);
    if (check_shape (at, key, value, TREE_LIST) < 0)
        return -1;
    for (size_t i = 0; i < value->count; i++) {
        if (set_text (at, key, value->item[i]) < 0)
            return -1;
    }
    return 0;
}

static share_list_t *share_field (const struct cursor *at,
                                  const schema_key_t *key)
{
    return (share_list_t *)((char *)at->entry + key->offset);
}

/* Pools without a share: what they share by stands elsewhere. */
static int set_names (const struct cursor *at, const schema_key_t *key,
                      const tree_t *value)
{
    for (size_t i = 0; i < value->count; i++) {
        const tree_t *pool = value->item[i];
        if (check_shape (at, key, pool, TREE_TEXT) < 0)
            return -1;
        if (value_add_share (share_field (at, key), pool->text, NULL,
                             at->loader->error)
            < 0)
            return fail_at (at, pool->line, key->name);
        refer (at, key, pool->text, pool->line);
    }
    return 0;
}

static int set_shares (const struct cursor *at, const schema_key_t *key,
                       const tree_t *value)
{
    if (value->type == TREE_LIST && (key->flags & SCHEMA_NAMES))
        return set_names (at, key, value);
    if (check_shape (at, key, value, TREE_MAPPING) < 0)
        return -1;
    for (size_t i = 0; i + 1 < value->count; i += 2) {
        const tree_t *name = value->item[i], *share = value->item[i + 1];
        if (check_shape (at, key, share, TREE_TEXT) < 0)
            return -1;
        if (value_add_share (share_field (at, key), name->text, share->text,
                             at->loader->error)
            < 0)
            return fail_at (at, share->line, key->name);
        refer (at, key, name->text, name->line);
    }
    return 0;
}

/* One name alone is all of it. */
static int set_funding (const struct cursor *at, const schema_key_t *key,
                        const tree_t *value)
{
    if (value->type != TREE_TEXT)
        return set_shares (at, key, value);
    if (check_shape (at, key, value, TREE_TEXT) < 0)
        return -1;
    if (value_add_share (share_field (at, key), value->text, "100%",
                         at->loader->error)
        < 0)
        return fail_at (at, value->line, key->name);
    refer (at, key, value->text, value->line);
    return 0;
}

/* Pairs of texts, one after the other. */
static int set_map (const struct cursor *at, const schema_key_t *key,
                    const tree_t *value)
{
    schema_key_t text = *key;

    text.type = VALUE_LIST;
    if (check_shape (at, key, value, TREE_MAPPING) < 0)
        return -1;
    for (size_t i = 0; i < value->count; i++)
        if (set_text (at, &text, value->item[i]) < 0)
            return -1;
    return 0;
}

static int read_entries (const struct cursor *at, const schema_key_t *key,
                         const tree_t *list);

static int set_value (const struct cursor *at, const schema_key_t *key,
                      const tree_t *value)
{
    switch (key->type) {
    case VALUE_LIST:
    case VALUE_HOSTS:
        return set_list (at, key, value);
    case VALUE_STATES: /* what is said replaces the default */
        *(uint32_t *)((char *)at->entry + key->offset) = 0;
        return set_list (at, key, value);
    case VALUE_SHARES:
        return set_shares (at, key, value);
    case VALUE_FUNDING:
        return set_funding (at, key, value);
    case VALUE_MAP:
        return set_map (at, key, value);
    case VALUE_ENTRIES:
        return read_entries (at, key, value);
    default:
        return set_text (at, key, value);
    }
}

/* ---- mappings ---- */

static char *word_of (const struct cursor *at, const char *name)
{
    char *word = at->of_cpus ? schema_cpu_word (name) : NULL;

    return word ? word : xstrdup (name);
}

/* Of a pool of CPUs per_cpu_hour is the word for per_gpu_hour: what has this name
 * elsewhere has none. */
static bool is_taken (const struct cursor *at, size_t key)
{
    for (size_t i = 0; i < at->kind->key_count && at->of_cpus; i++) {
        GL_AUTOFREE char *word = word_of (at, at->kind->keys[i].name);
        if (i != key && !strcmp (word, at->kind->keys[key].name))
            return true;
    }
    return false;
}

static bool is_key (const struct cursor *at, const char *text)
{
    for (size_t i = 0; i < at->kind->key_count; i++) {
        GL_AUTOFREE char *word = word_of (at, at->kind->keys[i].name);
        if (!strcmp (word, text))
            return true;
    }
    return false;
}

static int check_keys (const struct cursor *at, const tree_t *mapping)
{
    for (size_t i = 0; i + 1 < mapping->count; i += 2) {
        const tree_t *key = mapping->item[i];
        if (is_key (at, key->text))
            continue;
        if (at->of_cpus && schema_key (at->kind, key->text)) {
            GL_AUTOFREE char *word = word_of (at, key->text);
            return gl_error (at->loader->error,
                             "%s:%d: `%s`: the pool counts CPUs, not GPUs; "
                             "write `%s`, or leave it out",
                             at->file, key->line, key->text, word);
        }
        GL_AUTOFREE char *hint = schema_hint (at->kind, key->text);
        return gl_error (at->loader->error,
                         "%s:%d: unknown key '%.60s' in `%s`%s", at->file,
                         key->line, key->text, at->kind->name, hint);
    }
    return 0;
}

static int read_key (const struct cursor *at, const schema_key_t *key,
                     const tree_t *mapping, bool fallbacks)
{
    const tree_t *value = tree_get (mapping, key->name, NULL);

    if (value && set_value (at, key, value) < 0)
        return -1;
    if (!value && (key->flags & SCHEMA_REQUIRED))
        return gl_error (at->loader->error,
                         "%s:%d: an entry of `%s` lacks `%s`: %s", at->file,
                         mapping->line, at->kind->name, key->name, key->help);
    if (!value && fallbacks && key->fallback
        && value_set (at->loader->site, key, at->entry, key->fallback,
                      at->loader->error)
               < 0)
        return fail_at (at, mapping->line, key->name);
    return 0;
}

/* Keys in the table's order, which later ones may rely on. */
static int read_mapping (const struct cursor *at, const tree_t *mapping,
                         bool fallbacks)
{
    if (check_keys (at, mapping) < 0)
        return -1;
    for (size_t i = 0; i < at->kind->key_count; i++) {
        schema_key_t key = at->kind->keys[i];
        GL_AUTOFREE char *word = word_of (at, key.name);
        if (is_taken (at, i))
            key.name = "";
        else if (strcmp (word, key.name) != 0)
            key.name = word;
        if (read_key (at, &key, mapping, fallbacks) < 0)
            return -1;
    }
    return 0;
}

/* By the pool that it is or names. */
static bool is_of_cpus (const struct cursor *at, const tree_t *mapping)
{
    const tree_t *resource = tree_get (mapping, "resource", NULL);
    const tree_t *pool = tree_get (mapping, "pool", NULL);
    const tree_t *pools = tree_get (mapping, "pools", NULL);

    if (!pool && pools && pools->count > 0)
        pool = pools->item[0];
    if (!strcmp (at->kind->name, "pools"))
        return resource && resource->type == TREE_TEXT
               && !strcmp (resource->text, "cpu");
    return pool && pool->type == TREE_TEXT
           && site_pool_of_cpus (at->loader->site, pool->text);
}

/* ---- lists of entries ---- */

static void *field (void *base, size_t offset)
{
    return (char *)base + offset;
}

/* A zeroed entry at the end of an array of the site, or of an entry. */
static void *new_entry (void *owner, const schema_kind_t *kind)
{
    void **array = field (owner, kind->array);
    size_t *count = field (owner, kind->counter);
    void *entry;

    *array = xreallocarray (*array, *count + 1, kind->size);
    entry = field (*array, *count * kind->size);
    memset (entry, 0, kind->size);
    value_init (kind, entry);
    (*count)++;
    return entry;
}

static char *identity_of (const struct cursor *at, const tree_t *mapping)
{
    buffer_t b = BUFFER_INIT;

    for (size_t i = 0; i < at->kind->key_count; i++) {
        const schema_key_t *key = &at->kind->keys[i];
        GL_AUTOFREE char *word = word_of (at, key->name);
        const tree_t *value = tree_get (mapping, word, NULL);
        if (value && (key->flags & SCHEMA_IDENTITY))
            buffer_printf (&b, "%s%s%s%s", b.length ? ", " : "",
                           key->flags & SCHEMA_REQUIRED ? "" : word,
                           key->flags & SCHEMA_REQUIRED ? "" : " ",
                           value->text);
    }
    return buffer_take (&b);
}

static int read_entry (struct cursor *at, const tree_t *mapping)
{
    const schema_kind_t *kind = at->kind;
    check_entry_t entry = {.kind = kind, .place = {at->file, mapping->line}};

    if (mapping->type != TREE_MAPPING)
        return gl_error (at->loader->error,
                         "%s:%d: an entry of `%s` must be a mapping ({%s: "
                         "..., ...}), not %s",
                         at->file, mapping->line, kind->name,
                         kind->keys[0].name, tree_type_name (mapping->type));
    at->entry = new_entry (at->loader->site, kind);
    at->of_cpus = is_of_cpus (at, mapping);
    if (kind->placed)
        *(place_t *)field (at->entry, kind->place) = entry.place;
    if (read_mapping (at, mapping, true) < 0)
        return -1;
    entry.valid = kind->dated ? *(period_t *)field (at->entry, kind->valid)
                              : (period_t){SITE_ALWAYS_START, SITE_ALWAYS_END};
    entry.identity = identity_of (at, mapping);
    check_add_entry (&at->loader->list, entry);
    return 0;
}

/* A list within an entry: it has no name of its own, so nothing refers to it. */
static int read_entries (const struct cursor *at, const schema_key_t *key,
                         const tree_t *list)
{
    struct cursor inner
        = {at->loader, at->file, schema_entries (key), NULL, at->of_cpus};

    if (check_shape (at, key, list, TREE_LIST) < 0)
        return -1;
    for (size_t i = 0; i < list->count; i++) {
        const tree_t *mapping = list->item[i];
        if (mapping->type != TREE_MAPPING)
            return gl_error (
                at->loader->error,
                "%s:%d: an entry of `%s` must be a mapping, not %s", at->file,
                mapping->line, key->name, tree_type_name (mapping->type));
        inner.entry = new_entry (at->entry, inner.kind);
        *(place_t *)field (inner.entry, inner.kind->place)
            = (place_t){at->file, mapping->line};
        if (read_mapping (&inner, mapping, true) < 0)
            return -1;
    }
    return 0;
}

static int read_list (struct cursor *at, const tree_t *list)
{
    if (list->type == TREE_TEXT && list->length == 0)
        return 0;
    if (list->type != TREE_LIST)
        return gl_error (at->loader->error,
                         "%s:%d: `%s` must be a list (a '-' before each "
                         "entry), not %s",
                         at->file, list->line, at->kind->name,
                         tree_type_name (list->type));
    for (size_t i = 0; i < list->count; i++) {
        if (read_entry (at, list->item[i]) < 0)
            return -1;
    }
    return 0;
}

/* ledger and policy: a key may be set in one file only. */
static int check_set_once (const struct cursor *at, const tree_t *mapping)
{
    const struct loader *loader = at->loader;

    for (size_t d = 0; loader->document[d].file != at->file; d++) {
        const tree_t *other = loader->document[d].tree;
        other = other ? tree_get (other, at->kind->name, NULL) : NULL;
        for (size_t i = 0; other && i + 1 < mapping->count; i += 2) {
            const tree_t *key = mapping->item[i], *first;
            if (other->type == TREE_MAPPING
                && tree_get (other, key->text, &first))
                return gl_error (loader->error,
                                 "%s:%d: `%s` of `%s` is already set in "
                                 "%s:%d; remove one",
                                 at->file, key->line, key->text, at->kind->name,
                                 loader->document[d].file, first->line);
        }
    }
    return 0;
}

static int read_single (struct cursor *at, const tree_t *mapping)
{
    if (mapping->type == TREE_TEXT && mapping->length == 0)
        return 0;
    if (mapping->type != TREE_MAPPING)
        return gl_error (at->loader->error,
                         "%s:%d: `%s` must be a mapping (KEY: VALUE), not %s",
                         at->file, mapping->line, at->kind->name,
                         tree_type_name (mapping->type));
    at->entry = at->loader->site;
    if (read_mapping (at, mapping, false) < 0)
        return -1;
    return check_set_once (at, mapping);
}

/* ---- documents ---- */

static int check_top (const struct loader *loader,
                      const struct document *document)
{
    const tree_t *tree = document->tree;

    if (!tree)
        return 0;
    if (tree->type != TREE_MAPPING)
        return gl_error (loader->error,
                         "%s:%d: a configuration is a mapping (ledger: ..., "
                         "pools: ...), not %s",
                         document->file, tree->line,
                         tree_type_name (tree->type));
    for (size_t i = 0; i + 1 < tree->count; i += 2) {
        const tree_t *key = tree->item[i];
        if (schema_kind (key->text))
            continue;
        GL_AUTOFREE char *hint = schema_hint (NULL, key->text);
        return gl_error (loader->error, "%s:%d: unknown section '%.60s'%s",
                         document->file, key->line, key->text, hint);
    }
    return 0;
}

static int read_kind (struct loader *loader, const schema_kind_t *kind)
{
    for (size_t i = 0; i < loader->document_count; i++) {
        const struct document *document = &loader->document[i];
        struct cursor at = {loader, document->file, kind, NULL, false};
        const tree_t *value = document->tree
                                  ? tree_get (document->tree, kind->name, NULL)
                                  : NULL;
        if (value
            && (kind->size ? read_list (&at, value) : read_single (&at, value))
                   < 0)
            return -1;
    }
    return 0;
}

static int read_documents (struct loader *loader)
{
    size_t count;
    const schema_kind_t *const *kinds = schema_kinds (&count);

    for (size_t i = 0; i < loader->document_count; i++) {
        if (check_top (loader, &loader->document[i]) < 0)
            return -1;
    }
    for (size_t i = 0; i < count; i++) {
        if (read_kind (loader, kinds[i]) < 0)
            return -1;
    }
    if (institutions_apply (loader->site, loader->error) < 0
        || check_site (loader->site, &loader->list, loader->error) < 0)
        return -1;
    team_names_apply (loader->site);
    rates_apply (loader->site);
    return 0;
}

static int add_document (struct loader *loader, const char *name,
                         const char *text, size_t length)
{
    text_list_t *files = &loader->site->files;
    struct document *document;

    if (length > CONFIG_FILE_MAX)
        return gl_error (loader->error,
                         "%s: larger than %d bytes; this is not a "
                         "configuration",
                         name, CONFIG_FILE_MAX);
    texts_add (files, name);
    document = GL_APPEND (loader->document, loader->document_count);
    document->file = files->item[files->count - 1];
    document->tree = NULL;
    return tree_parse (document->file, text, length, &document->tree,
                       loader->error);
}

/* ---- files ---- */

static int add_file (struct loader *loader, const char *path)
{
    FILE *fp = fopen (path, "re");
    GL_AUTOFREE char *text = xmalloc (CONFIG_FILE_MAX + 1);
    size_t length;
    int failed;

    if (!fp)
        return gl_error (loader->error, "cannot read %s: %s", path,
                         strerror (errno));
    errno = 0;
    length = fread (text, 1, CONFIG_FILE_MAX + 1, fp);
    failed = ferror (fp) ? errno : 0;
    fclose (fp);
    if (failed)
        return gl_error (loader->error, "cannot read %s: %s", path,
                         strerror (failed));
    return add_document (loader, path, text, length);
}

static bool ends_with (const char *name, const char *end)
{
    size_t length = strlen (name), n = strlen (end);

    return length > n && strcasecmp (name + length - n, end) == 0;
}

/* Also those that are meant to be read, but are not named so. */
static int is_yaml (const struct dirent *entry)
{
    return entry->d_name[0] != '.'
           && (ends_with (entry->d_name, ".yaml")
               || ends_with (entry->d_name, ".yml"));
}

static int check_suffix (const char *file, gl_error_t *error)
{
    if (!strcmp (strrchr (file, '.'), ".yaml"))
        return 0;
    return gl_error (
        error,
        "%s: files of conf.d are read if their names end in '.yaml'; "
        "rename it",
        file);
}

static int by_bytes (const struct dirent **a, const struct dirent **b)
{
    return strcmp ((*a)->d_name, (*b)->d_name);
}

static int add_directory (struct loader *loader, const char *path)
{
    const char *slash = strrchr (path, '/');
    GL_AUTOFREE char *dir
        = xasprintf ("%.*sconf.d", slash ? (int)(slash + 1 - path) : 0, path);
    struct dirent **entries;
    int count = scandir (dir, &entries, is_yaml, by_bytes), rc = 0;

    if (count < 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? 0
                   : gl_error (loader->error, "cannot read %s: %s", dir,
                               strerror (errno));
    for (int i = 0; i < count; i++) {
        GL_AUTOFREE char *file = xasprintf ("%s/%s", dir, entries[i]->d_name);
        if (rc == 0)
            rc = check_suffix (file, loader->error);
        if (rc == 0)
            rc = add_file (loader, file);
        free (entries[i]);
    }
    free (entries);
    return rc;
}

/* ---- the top ---- */

static char *book_of (const struct loader *loader)
{
    const tree_t **trees
        = xcalloc (loader->document_count + 1, sizeof (*trees));
    buffer_t text = BUFFER_INIT;

    for (size_t i = 0; i < loader->document_count; i++)
        trees[i] = loader->document[i].tree;
    book_text (loader->site, trees, loader->document_count, &text);
    free (trees);
    return buffer_take (&text);
}

static int finish (struct loader *loader, int rc, site_t **ret_site)
{
    if (rc == 0)
        rc = read_documents (loader);
    if (rc == 0)
        loader->site->book = book_of (loader);
    GL_FREE_EACH (loader->document, loader->document_count, it,
                  tree_free (it->tree));
    check_list_done (&loader->list);
    if (rc == 0)
        *ret_site = loader->site;
    else
        site_free (loader->site);
    return rc;
}

int config_load (const char *path, site_t **ret_site, gl_error_t *error)
{
    struct loader loader = {.site = site_default (), .error = error};
    int rc = add_file (&loader, path);

    if (rc == 0)
        rc = add_directory (&loader, path);
    return finish (&loader, rc, ret_site);
}

int config_load_overlay (const char *path, const char *overlay,
                         site_t **ret_site, gl_error_t *error)
{
    struct loader loader = {.site = site_default (), .error = error};
    int rc = add_file (&loader, path);

    if (rc == 0)
        rc = add_directory (&loader, path);
    if (rc == 0)
        rc = add_file (&loader, overlay);
    if (rc == 0) {
        size_t last = loader.document_count - 1;
        for (size_t i = 0; i < last; i++)
            overlay_take_out (loader.document[i].tree,
                              loader.document[last].tree);
    }
    return finish (&loader, rc, ret_site);
}

int config_load_text (const char *name, const char *text, size_t length,
                      site_t **ret_site, gl_error_t *error)
{
    struct loader loader = {.site = site_default (), .error = error};
    int rc = add_document (&loader, name, text, length);

    return finish (&loader, rc, ret_site);
}

/* ---- layouts ---- */

static int read_layout (struct loader *loader, export_layout_t **ret_layout)
{
    const struct document *document = loader->document;
    export_layout_t *layout = xcalloc (1, sizeof (*layout));
    struct cursor at = {loader, NULL, schema_layout_kind (), layout, false};

    at.file = layout->file = xstrdup (document->file);
    layout->place = (place_t){layout->file, 0}; /* of no single key */
    if (!document->tree || document->tree->type != TREE_MAPPING)
        gl_error (loader->error,
                  "%s:%d: a layout is a mapping (rows: ..., columns: ...)",
                  layout->file, document->tree ? document->tree->line : 1);
    else if (read_mapping (&at, document->tree, true) == 0) {
        *ret_layout = layout;
        return 0;
    }
    export_layout_free (layout);
    return -1;
}

static int finish_layout (struct loader *loader, int rc,
                          export_layout_t **ret_layout)
{
    if (rc == 0)
        rc = read_layout (loader, ret_layout);
    GL_FREE_EACH (loader->document, loader->document_count, it,
                  tree_free (it->tree));
    check_list_done (&loader->list);
    site_free (loader->site);
    return rc;
}

int config_load_layout (const char *path, export_layout_t **ret_layout,
                        gl_error_t *error)
{
    struct loader loader = {.site = site_default (), .error = error};

    return finish_layout (&loader, add_file (&loader, path), ret_layout);
}

int config_load_layout_text (const char *name, const char *text, size_t length,
                             export_layout_t **ret_layout, gl_error_t *error)
{
    struct loader loader = {.site = site_default (), .error = error};

    return finish_layout (&loader, add_document (&loader, name, text, length),
                          ret_layout);
}
