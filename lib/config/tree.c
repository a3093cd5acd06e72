#include <stdbool.h>
#include <string.h>

#include <yaml.h>

#include "base/array.h"
#include "base/memory.h"
#include "config/tree.h"

struct reader {
    yaml_parser_t parser;
    const char *name;
    gl_error_t *error;
};

static const char *const type_names[] = {
    [TREE_TEXT] = "a text",
    [TREE_LIST] = "a list",
    [TREE_MAPPING] = "a mapping",
};

const char *tree_type_name (tree_type_t type)
{
    return type_names[type];
}

void tree_free (tree_t *tree)
{
    if (!tree)
        return;
    GL_FREE_EACH (tree->item, tree->count, it, tree_free (*it));
    free (tree->text);
    free (tree);
}

const tree_t *tree_get (const tree_t *mapping, const char *key,
                        const tree_t **ret_key)
{
    for (size_t i = 0; i + 1 < mapping->count; i += 2) {
        if (strcmp (mapping->item[i]->text, key) == 0) {
            if (ret_key)
                *ret_key = mapping->item[i];
            return mapping->item[i + 1];
        }
    }
    return NULL;
}

void tree_remove (tree_t *tree, size_t index, size_t count)
{
    for (size_t i = index; i < index + count; i++)
        tree_free (tree->item[i]);
    memmove (tree->item + index, tree->item + index + count,
             (tree->count - index - count) * sizeof (*tree->item));
    tree->count -= count;
}

static int line_of (const yaml_event_t *event)
{
    return (int)event->start_mark.line + 1;
}

static int next (struct reader *reader, yaml_event_t *event)
{
    const yaml_parser_t *parser = &reader->parser;

    if (yaml_parser_parse (&reader->parser, event))
        return 0;
    return gl_error (reader->error, "%s:%zu: broken YAML: %s%s%s", reader->name,
                     parser->problem_mark.line + 1,
                     parser->context ? parser->context : "",
                     parser->context ? ", " : "",
                     parser->problem ? parser->problem : "not readable");
}

static tree_t *new_tree (tree_type_t type, int line)
{
    tree_t *tree = xcalloc (1, sizeof (*tree));

    tree->type = type;
    tree->line = line;
    return tree;
}

static void add_item (tree_t *tree, tree_t *item)
{
    /* doubles whenever the count reaches a power of two */
    if ((tree->count & (tree->count - 1)) == 0)
        tree->item =
            xreallocarray (tree->item, tree->count ? tree->count * 2 : 1,
                           sizeof (*tree->item));
    tree->item[tree->count++] = item;
}

static int check_key (struct reader *reader, const tree_t *mapping,
                      const tree_t *key)
{
    if (mapping->count >= 2 * TREE_KEYS_MAX)
        return gl_error (reader->error, "%s:%d: more than %d keys here",
                         reader->name, key->line, TREE_KEYS_MAX);
    if (key->type != TREE_TEXT || strlen (key->text) != key->length)
        return gl_error (reader->error, "%s:%d: a key must be a plain word",
                         reader->name, key->line);
    for (size_t i = 0; i + 1 < mapping->count; i += 2) {
        if (strcmp (mapping->item[i]->text, key->text) == 0)
            return gl_error (reader->error,
                             "%s:%d: key '%.60s' is given twice (first in line "
                             "%d); remove one",
                             reader->name, key->line, key->text,
                             mapping->item[i]->line);
    }
    return 0;
}

static int read_value (struct reader *reader, const yaml_event_t *event,
                       int depth, tree_t **ret_tree);

/* Reads on until the matching end event. */
static int read_items (struct reader *reader, tree_t *tree,
                       yaml_event_type_t end, int depth)
{
    for (;;) {
        bool done, key = tree->type == TREE_MAPPING && tree->count % 2 == 0;
        yaml_event_t event;
        tree_t *item = NULL;
        int rc;

        if (next (reader, &event) < 0)
            return -1;
        done = event.type == end;
        rc = done ? 0 : read_value (reader, &event, depth + 1, &item);
        yaml_event_delete (&event);
        if (rc < 0 || done)
            return rc;
        if (key && check_key (reader, tree, item) < 0) {
            tree_free (item);
            return -1;
        }
        add_item (tree, item);
    }
}

static tree_t *read_text (const yaml_event_t *event)
{
    tree_t *tree = new_tree (TREE_TEXT, line_of (event));

    tree->length = event->data.scalar.length;
    tree->text = xmalloc (tree->length + 1);
    memcpy (tree->text, event->data.scalar.value, tree->length);
    tree->text[tree->length] = '\0';
    return tree;
}

static int read_value (struct reader *reader, const yaml_event_t *event,
                       int depth, tree_t **ret_tree)
{
    bool list = event->type == YAML_SEQUENCE_START_EVENT;
    tree_t *tree;

    if (event->type == YAML_SCALAR_EVENT) {
        *ret_tree = read_text (event);
        return 0;
    }
    if (event->type == YAML_ALIAS_EVENT)
        return gl_error (reader->error,
                         "%s:%d: an alias (*%.60s) is not supported; write "
                         "the value out",
                         reader->name, line_of (event),
                         (const char *)event->data.alias.anchor);
    if (depth > TREE_DEPTH_MAX)
        return gl_error (reader->error,
                         "%s:%d: nested more than %d levels deep; no value "
                         "of a configuration is",
                         reader->name, line_of (event), TREE_DEPTH_MAX);
    tree = new_tree (list ? TREE_LIST : TREE_MAPPING, line_of (event));
    if (read_items (reader, tree,
                    list ? YAML_SEQUENCE_END_EVENT : YAML_MAPPING_END_EVENT,
                    depth) < 0) {
        tree_free (tree);
        return -1;
    }
    *ret_tree = tree;
    return 0;
}

/* The first document's value, then nothing more. */
static int read_stream (struct reader *reader, tree_t **ret_tree)
{
    bool documents = false, end = false;

    while (!end) {
        yaml_event_t event;
        int rc = 0;

        if (next (reader, &event) < 0)
            return -1;
        switch (event.type) {
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_END_EVENT:
            break;
        case YAML_STREAM_END_EVENT:
            end = true;
            break;
        case YAML_DOCUMENT_START_EVENT:
            if (documents)
                rc = gl_error (reader->error,
                               "%s:%d: a second YAML document (---); put it "
                               "into a file of its own in conf.d",
                               reader->name, line_of (&event));
            documents = true;
            break;
        default:
            rc = read_value (reader, &event, 0, ret_tree);
        }
        yaml_event_delete (&event);
        if (rc < 0)
            return -1;
    }
    return 0;
}

int tree_parse (const char *name, const char *text, size_t length,
                tree_t **ret_tree, gl_error_t *error)
{
    struct reader reader = {.name = name, .error = error};
    tree_t *tree = NULL;
    int rc;

    if (!yaml_parser_initialize (&reader.parser))
        return gl_error (error, "%s: out of memory", name);
    yaml_parser_set_input_string (&reader.parser, (const unsigned char *)text,
                                  length);
    rc = read_stream (&reader, &tree);
    yaml_parser_delete (&reader.parser);
    if (rc < 0) {
        tree_free (tree);
        return -1;
    }
    if (tree && tree->type == TREE_TEXT && tree->length == 0) {
        tree_free (tree);
        tree = NULL;
    }
    *ret_tree = tree;
    return 0;
}
