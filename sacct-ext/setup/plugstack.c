#include "setup/plugstack.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define POLICY "policy="
#define INCLUDES_MAX 8

static void read_stack (const char *file, plugstack_t *stack);

static void read_included (const char *pattern, const char *file,
                           plugstack_t *stack)
{
    const char *slash = strrchr (file, '/');
    GL_AUTOFREE char *path
        = pattern[0] == '/' || !slash
              ? xstrdup (pattern)
              : xasprintf ("%.*s/%s", (int)(slash - file), file, pattern);
    glob_t found = {0};

    if (stack->depth == INCLUDES_MAX)
        return;
    stack->depth++;
    if (glob (path, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            read_stack (found.gl_pathv[i], stack);
    }
    globfree (&found);
    stack->depth--;
}

static void read_stack_line (char *line, const char *file, plugstack_t *stack)
{
    char *rest, *kind, *path, *word;
    const char *name;

    line[strcspn (line, "#\n")] = '\0';
    kind = strtok_r (line, " \t", &rest);
    path = kind ? strtok_r (NULL, " \t", &rest) : NULL;
    if (!path)
        return;
    if (strcmp (kind, "include") == 0) {
        read_included (path, file, stack);
        return;
    }
    stack->lines++;
    name = strrchr (path, '/');
    if (strcmp (name ? name + 1 : path, PLUGSTACK_PLUGIN) != 0)
        return;
    if (stack->listed++ > 0)
        return;
    stack->at = stack->lines;
    snprintf (stack->kind, sizeof (stack->kind), "%s", kind);
    snprintf (stack->path, sizeof (stack->path), "%s", path);
    while ((word = strtok_r (NULL, " \t", &rest))) {
        if (strncmp (word, POLICY, strlen (POLICY)) == 0)
            snprintf (stack->policy, sizeof (stack->policy), "%s",
                      word + strlen (POLICY));
    }
}

static void read_stack (const char *file, plugstack_t *stack)
{
    FILE *stream = fopen (file, "re");
    char line[4096];

    while (stream && fgets (line, sizeof (line), stream))
        read_stack_line (line, file, stack);
    if (stream)
        fclose (stream);
}

void plugstack_read (const char *file, plugstack_t *ret_stack)
{
    *ret_stack = (plugstack_t){0};
    read_stack (file, ret_stack);
}
