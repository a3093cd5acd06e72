/* Nodes and login hosts: the spool, where the collector is, the plugin, the agent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "setup/configuration.h"
#include "setup/plugstack.h"
#include "setup/services.h"
#include "setup/setup.h"
#include "site/site.h"

#define PLUGIN SLURM_PLUGINDIR "/" PLUGSTACK_PLUGIN
/* The package's file, next to plugstack.conf. */
#define PACKAGED "plugstack.conf.d/gpuledger.conf"
#define COMMENT "# The plugin of gpuledger; it has to be the first one.\n"

/* --- spool --------------------------------------------------------------- */

static const char *spool_of (const setup_t *setup)
{
    return setup->site && setup->site->agent.spool ? setup->site->agent.spool
                                                   : LOCALSTATEDIR
               "/spool/gpuledger";
}

static setup_state_t look_spool (setup_t *setup, buffer_t *finding)
{
    const char *spool = spool_of (setup);
    struct stat st;

    if (lstat (spool, &st) < 0)
        return buffer_say (finding, SETUP_TO_DO, "there is no %s", spool);
    return S_ISDIR (st.st_mode) && st.st_uid == 0 && !(st.st_mode & 022)
               ? SETUP_DONE
               : buffer_say (finding, SETUP_TO_DO,
                             "%s is not root's, or others can write to it",
                             spool);
}

static setup_result_t make_spool (setup_t *setup, buffer_t *finding,
                                  gl_error_t *error)
{
    change_file_t spool = {.path = spool_of (setup), .mode = 0700};

    (void)finding;
    return change_directory (&setup->changes, &spool, error) < 0 ? SETUP_FAILED
                                                                 : SETUP_MADE;
}

/* Records that no collector has are the only copy. */
static setup_result_t undo_spool (setup_t *setup, buffer_t *finding,
                                  gl_error_t *error)
{
    const char *spool = spool_of (setup);

    if (!made_find (&setup->changes.made, "directory", spool))
        return SETUP_MADE;
    if (!setup->options.dry_run && rmdir (spool) < 0
        && access (spool, F_OK) == 0)
        buffer_printf (finding,
                       "%s stays, because it has records that no collector "
                       "has",
                       spool);
    else
        change_log (&setup->changes, "remove", "removed", spool);
    return change_forget (&setup->changes, "directory", spool, error) < 0
               ? SETUP_FAILED
               : SETUP_MADE;
}

/* --- plugin -------------------------------------------------------------- */

/* As an option says, as slurm.conf says, or next to it. */
static char *plugstack_path (const setup_t *setup)
{
    const char *known = slurm_conf_value (setup->slurm, "PlugStackConfig");
    const char *slash;

    if (setup->options.plugstack)
        return xstrdup (setup->options.plugstack);
    if (known)
        return xstrdup (known);
    if (!setup->slurm || !(slash = strrchr (setup->slurm->path, '/')))
        return xstrdup (PLUGSTACK_DEFAULT);
    return xasprintf ("%.*s/plugstack.conf", (int)(slash - setup->slurm->path),
                      setup->slurm->path);
}

static setup_state_t look_plugin (setup_t *setup, buffer_t *finding)
{
    GL_AUTOFREE char *file = plugstack_path (setup);
    plugstack_t stack;

    plugstack_read (file, &stack);
    if (stack.listed == 0)
        return access (PLUGIN, F_OK) == 0
                   ? buffer_say (finding, SETUP_TO_DO,
                                 "%s does not list " PLUGSTACK_PLUGIN, file)
                   : buffer_say (finding, SETUP_WAITING,
                                 "there is no " PLUGIN
                                 ": install slurm-gpuledger-plugin");
    if (strcmp (stack.kind, "optional") != 0)
        return buffer_say (finding, SETUP_WAITING,
                           "%s has '%s': a plugin that cannot be loaded drains "
                           "the node; write optional",
                           file, stack.kind);
    return buffer_say (finding, SETUP_DONE, "%s", file);
}

/* The lines that setup adds; yours. */
static char *plugin_lines (const char *file)
{
    const char *slash = strrchr (file, '/');
    GL_AUTOFREE char *packaged = xasprintf (
        "%.*s/" PACKAGED, slash ? (int)(slash - file) : 1, slash ? file : ".");

    return access (packaged, F_OK) == 0
               ? xasprintf (COMMENT "include %s\n", packaged)
               : xstrdup (COMMENT "optional " PLUGIN "\n");
}

static setup_result_t make_plugin (setup_t *setup, buffer_t *finding,
                                   gl_error_t *error)
{
    GL_AUTOFREE char *path = plugstack_path (setup);
    GL_AUTOFREE char *before = change_read (path, error);
    GL_AUTOFREE char *lines = plugin_lines (path);
    GL_AUTOFREE char *after = xasprintf ("%s%s", lines, before ? before : "");
    change_file_t file = {.path = path, .mode = 0644, .shared = true};

    if (!before && error->text[0])
        return SETUP_FAILED;
    buffer_add_text (finding, "slurmd reads it when it starts");
    return change_write (&setup->changes, &file, after, error) < 0
               ? SETUP_FAILED
               : SETUP_MADE;
}

/* Wherever they are by now; a file that has nothing else is removed. */
static setup_result_t undo_plugin (setup_t *setup, buffer_t *finding,
                                   gl_error_t *error)
{
    GL_AUTOFREE char *path = plugstack_path (setup);
    GL_AUTOFREE char *text = change_read (path, NULL);
    GL_AUTOFREE char *lines = plugin_lines (path);
    char *at = text ? strstr (text, lines) : NULL;
    change_file_t file = {.path = path, .mode = 0644, .shared = true};

    if (!made_find (&setup->changes.made, "lines", path))
        return SETUP_MADE;
    if (!at)
        buffer_printf (finding, "%s stays, because it was edited", path);
    else {
        memmove (at, at + strlen (lines), strlen (at + strlen (lines)) + 1);
        if (change_write (&setup->changes, &file, text, error) < 0)
            return SETUP_FAILED;
    }
    return change_forget (&setup->changes, "lines", path, error) < 0
               ? SETUP_FAILED
               : SETUP_MADE;
}

/* --- slurmd -------------------------------------------------------------- */

#define SLURMD "slurmd.service"

/* A process has the plugin that is installed now: of one that was replaced, the kernel
 * adds "(deleted)". */
static bool has_plugin (pid_t pid)
{
    GL_AUTOFREE char *path = xasprintf ("/proc/%d/maps", (int)pid);
    FILE *maps = fopen (path, "re");
    char *line = NULL;
    size_t size = 0;
    bool has = false;

    while (maps && !has && getline (&line, &size, maps) > 0)
        has = strstr (line, "/" PLUGSTACK_PLUGIN "\n") != NULL;
    free (line);
    if (maps)
        fclose (maps);
    return has;
}

/* slurmd looks for plugins once, when it starts: until then jobs are not recorded. */
static setup_state_t look_slurmd (setup_t *setup, buffer_t *finding)
{
    BUFFER_AUTO ignored = BUFFER_INIT;
    pid_t pid = services_process (&setup->changes, SLURMD);

    if (pid <= 0)
        return SETUP_UNNEEDED;
    if (look_plugin (setup, &ignored) != SETUP_DONE)
        return buffer_say (finding, SETUP_WAITING, "for the plugin");
    return has_plugin (pid)
               ? SETUP_DONE
               : buffer_say (finding, SETUP_TO_DO,
                             "it started before the plugin was installed");
}

/* Within 5 seconds of its start. */
static bool loads_plugin (const setup_t *setup)
{
    for (int tries = 0; tries < 50; tries++) {
        pid_t pid = services_process (&setup->changes, SLURMD);
        if (pid > 0 && has_plugin (pid))
            return true;
        usleep (100000);
    }
    return false;
}

static setup_result_t make_slurmd (setup_t *setup, buffer_t *finding,
                                   gl_error_t *error)
{
    static const char *const argv[] = {"systemctl", "restart", SLURMD, NULL};

    if (change_run (&setup->changes, argv, NULL, NULL, error) < 0)
        return SETUP_FAILED;
    if (setup->options.dry_run || loads_plugin (setup))
        return buffer_say (finding, SETUP_MADE, "running jobs go on");
    return buffer_say (finding, SETUP_YOURS,
                       "slurmd started again and did not load it: its log says "
                       "why; if slurmctld sends the\nconfiguration of this "
                       "node (configless), list the plugin in slurmctld's "
                       "plugstack.conf");
}

/* --- agent --------------------------------------------------------------- */

static const char *const units[] = {"gpuledger-agent.service", NULL};

static setup_state_t look_agent (setup_t *setup, buffer_t *finding)
{
    return services_look (&setup->changes, units, finding);
}

static setup_result_t make_agent (setup_t *setup, buffer_t *finding,
                                  gl_error_t *error)
{
    return services_enable (&setup->changes, units, finding, error);
}

static setup_result_t undo_agent (setup_t *setup, buffer_t *finding,
                                  gl_error_t *error)
{
    return services_disable (&setup->changes, units, finding, error);
}

const setup_step_t setup_client_steps[] = {
    {"configuration", "the configuration names the accounting host",
     configuration_look_client, configuration_make_client, configuration_undo,
     .check = "node.collector"},
    {0},
};

#define PLUGIN_STEP                                                   \
    {                                                                 \
        "plugin", "Slurm loads the plugin", look_plugin, make_plugin, \
            undo_plugin, .check = "node.plugin"                       \
    }

const setup_step_t setup_plugin_steps[] = {PLUGIN_STEP, {0}};

const setup_step_t setup_node_steps[] = {
    {"spool", "the spool is root's", look_spool, make_spool, undo_spool,
     .check = "node.spool"},
    PLUGIN_STEP,
    {"slurmd", "slurmd runs with the plugin", look_slurmd, make_slurmd, NULL,
     .check = "node.slurmd"},
    {"agent", "the agent runs", look_agent, make_agent, undo_agent,
     .check = "node.agent"},
    {0},
};

const setup_step_t *const setup_node[]
    = {setup_client_steps, setup_node_steps, NULL};
const setup_step_t *const setup_login[]
    = {setup_client_steps, setup_plugin_steps, NULL};
