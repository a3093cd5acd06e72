#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "publish/access.h"

/* nginx reads words of at most 4 KB, and a byte may become %XX. */
#define GROUP_MAX_BYTES 1000

#define ALPHANUMERIC             \
    "abcdefghijklmnopqrstuvwxyz" \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* --- what is refused ------------------------------------------------------ */

/* A part of a path that no server takes for more: no slash, pattern, variable. */
static bool is_plain_directory (const char *name)
{
    return *name && *name != '.'
           && name[strspn (name, ALPHANUMERIC "_-.%~")] == '\0';
}

static int check_directories (const access_rules_t *rules, gl_error_t *error)
{
    for (size_t i = 0; i < rules->team_count; i++) {
        const char *name = rules->team[i].directory;
        if (!is_plain_directory (name))
            return gl_error (error, "'%s' cannot be the directory of a team",
                             name);
        for (size_t k = 0; k < i; k++)
            if (!strcmp (rules->team[k].directory, name))
                return gl_error (error, "two teams have the directory '%s'",
                                 name);
    }
    return 0;
}

static bool has_control (const char *text)
{
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return true;
    return false;
}

/* Why a group is no group for any server; NULL: it is one. An empty one would make
 * an authenticator that is asked for no group allow everybody. */
static const char *group_fault (const char *group)
{
    if (!*group)
        return "it is empty";
    if (strlen (group) > GROUP_MAX_BYTES)
        return "it is longer than 1000 bytes";
    return has_control (group) ? "it has a control character" : NULL;
}

static int refuse_group (const char *group, const char *fault,
                         gl_error_t *error)
{
    return gl_error (
        error,
        "the group '%.100s' cannot be written into the access rules: "
        "%s; give it another name, or put its members into "
        "another group",
        group, fault);
}

/* --- nginx ---------------------------------------------------------------- */

#define DECISIONS "/_gpuledger/access/" /* locations of subrequests */

struct nginx {
    buffer_t *out;
    gl_error_t *error;
    size_t groups; /* of the location that is being written */
};

/* As a value of a query. Also '$', which begins a variable, and all that ends a
 * word. */
static void add_encoded (buffer_t *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (strchr (ALPHANUMERIC "_-.~", *c))
            buffer_add_char (out, *c);
        else
            buffer_printf (out, "%%%02X", (unsigned char)*c);
    }
}

/* A line for each, because nginx limits the length of a word. */
static int nginx_groups (struct nginx *n, const text_list_t *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        const char *group = groups->item[i], *fault = group_fault (group);
        if (!fault && strchr (group, ','))
            fault = "it has a comma, which separates groups there";
        if (fault)
            return refuse_group (group, fault, n->error);
        buffer_printf (n->out, "    set $gpuledger_groups \"%s",
                       n->groups++ ? "$gpuledger_groups," : "");
        add_encoded (n->out, group);
        buffer_add_text (n->out, "\";\n");
    }
    return 0;
}

/* The subrequest that decides for `name`. */
static int nginx_decision (struct nginx *n, const char *kind, const char *name,
                           const text_list_t *readers, const text_list_t *site)
{
    n->groups = 0;
    buffer_printf (n->out, "location = \"" DECISIONS "%s%s\" {\n", kind, name);
    buffer_add_text (n->out, "    internal;\n");
    if ((readers && nginx_groups (n, readers) < 0)
        || nginx_groups (n, site) < 0)
        return -1;
    /* asked for no group, the authenticator would allow everybody */
    buffer_add_text (n->out,
                     n->groups
                         ? "    proxy_pass $gpuledger_auth?allowed_groups="
                           "$gpuledger_groups;\n"
                           "    proxy_pass_request_body off;\n"
                           "    proxy_set_header Content-Length \"\";\n"
                           "    proxy_set_header X-Original-URI $request_uri;\n"
                         : "    return 403;\n");
    buffer_add_text (n->out, "}\n");
    return 0;
}

/* Without the slash the path leads to the one with it. A prefix without it would
 * take a team whose name continues this one. */
static int nginx_team (struct nginx *n, const access_team_t *team,
                       const text_list_t *site)
{
    const char *name = team->directory;

    buffer_printf (n->out,
                   "location ^~ \"/team/%s/\" {\n"
                   "    auth_request \"" DECISIONS "team/%s\";\n"
                   "}\n"
                   "location = \"/team/%s\" {\n"
                   "    auth_request \"" DECISIONS "team/%s\";\n"
                   "}\n",
                   name, name, name, name);
    return nginx_decision (n, "team/", name, &team->readers, site);
}

int access_nginx (const access_rules_t *rules, buffer_t *out, gl_error_t *error)
{
    struct nginx n = {out, error, 0};

    if (check_directories (rules, error) < 0)
        return -1;
    /* of the server, so that no location is without it */
    buffer_add_text (out, "# Written by gpuledger publish.\n"
                          "auth_request \"" DECISIONS "site\";\n");
    if (nginx_decision (&n, "site", "", NULL, &rules->readers) < 0)
        return -1;
    for (size_t i = 0; i < rules->team_count; i++)
        if (nginx_team (&n, &rules->team[i], &rules->readers) < 0)
            return -1;
    return 0;
}

/* --- Apache --------------------------------------------------------------- */

struct apache {
    buffer_t *out;
    gl_error_t *error;
    const char *require;
    size_t before; /* %s begins here */
    bool quoted;
    bool whole_line; /* the provider takes all that follows as one name */
};

/* Where a name with a blank is one without quotes. */
static bool takes_whole_line (const char *require)
{
    const char *provider = require + strlen ("Require ");

    provider += strspn (provider, " ");
    return !strncasecmp (provider, "ldap-group ", strlen ("ldap-group "));
}

static int read_template (struct apache *a, const char *require)
{
    const char *at = strstr (require, "%s");
    size_t quotes = 0;

    if (strncasecmp (require, "Require ", strlen ("Require ")) != 0 || !at
        || strstr (at + 2, "%s") || has_control (require)
        || require[strlen (require) - 1] == '\\')
        return gl_error (a->error,
                         "'%s' is no line that allows a group: write it as "
                         "'%s', with one %%s for the group",
                         require, ACCESS_REQUIRE);
    a->require = require;
    a->before = (size_t)(at - require);
    for (const char *c = require; c < at; c++)
        quotes += *c == '"';
    a->quoted = quotes % 2;
    a->whole_line = takes_whole_line (require);
    return 0;
}

/* Backslashes and variables are read by the server, by its expressions and by the
 * provider, each in its own way: no quoting is safe for all three. */
static const char *apache_fault (const struct apache *a, const char *group)
{
    const char *fault = group_fault (group);

    if (fault)
        return fault;
    if (strpbrk (group, "\"\\$") || strstr (group, "%{"))
        return "it has one of \" \\ $ %{, which Apache interprets";
    if (a->quoted)
        return NULL;
    if (a->whole_line)
        return *group == ' ' || group[strlen (group) - 1] == ' '
                   ? "it begins or ends with a blank"
                   : NULL;
    return strpbrk (group, " '")
               ? "it has a blank or ', and %s is not in double quotes"
               : NULL;
}

static int apache_groups (struct apache *a, const text_list_t *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        const char *group = groups->item[i];
        const char *fault = apache_fault (a, group);
        if (fault)
            return refuse_group (group, fault, a->error);
        buffer_add_text (a->out, "        ");
        buffer_add (a->out, a->require, a->before);
        buffer_printf (a->out, "%s%s\n", group, a->require + a->before + 2);
    }
    return 0;
}

/* `path`: it and what is below it, for both lists. */
static int apache_location (struct apache *a, const char *path,
                            const text_list_t *readers, const text_list_t *site)
{
    bool any = site->count || (readers && readers->count);

    /* a section takes the place of those of a shorter path */
    buffer_printf (
        a->out, "<Location \"/%s\">\n    AuthMerging Off\n    <RequireAny>\n",
        path);
    if (!any)
        buffer_add_text (a->out, "        Require all denied\n");
    if ((readers && apache_groups (a, readers) < 0)
        || apache_groups (a, site) < 0)
        return -1;
    buffer_add_text (a->out, "    </RequireAny>\n</Location>\n");
    return 0;
}

int access_apache (const access_rules_t *rules, const char *require,
                   buffer_t *out, gl_error_t *error)
{
    struct apache a = {.out = out, .error = error};

    if (check_directories (rules, error) < 0
        || read_template (&a, require ? require : ACCESS_REQUIRE) < 0)
        return -1;
    buffer_add_text (out, "# Written by gpuledger publish.\n");
    if (apache_location (&a, "", NULL, &rules->readers) < 0)
        return -1;
    for (size_t i = 0; i < rules->team_count; i++) {
        const access_team_t *team = &rules->team[i];
        GL_AUTOFREE char *path = xasprintf ("team/%s", team->directory);
        if (apache_location (&a, path, &team->readers, &rules->readers) < 0)
            return -1;
    }
    return 0;
}
