/* A compute node: the plugin, its spool, the agent, munge. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "doctor/doctor.h"
#include "record/spool.h"
#include "record/spool_read.h"
#include "setup/plugstack.h"
#include "site/site.h"
#include "users/ask.h"
#include "wire/credential.h"

#define PLUGIN PLUGSTACK_PLUGIN
#define SEGMENT_ROOM (INT64_C (4) * SPOOL_SEGMENT_MAX)
/* What is nobody's fault: frames travel, and credentials carry seconds. */
#define SKEW_SECONDS 2

static bool exists (const char *path)
{
    struct stat st;

    return lstat (path, &st) == 0;
}

/* There is a spool, or a slurmd runs here: a node. */
static bool is_node (const doctor_t *d)
{
    return exists (d->spool);
}

#define ONLY_NODE(d, finding)                                        \
    do {                                                             \
        if (!is_node (d))                                            \
            return buffer_say (finding, DOCTOR_SKIPPED,              \
                               "no spool at %s: no node", d->spool); \
    } while (0)

/* --- plugstack.conf ---------------------------------------------------- */

static char *plugstack_path (doctor_t *d)
{
    BUFFER_AUTO ignored = BUFFER_INIT;
    doctor_state_t state;
    char *path = NULL;

    if (d->plugstack)
        return xstrdup (d->plugstack);
    if (doctor_ask_slurm (d, &ignored, &state))
        path = doctor_slurm_value (d, "PlugStackConfig");
    if (path && path[0] == '/')
        return path;
    free (path);
    return xstrdup (PLUGSTACK_DEFAULT);
}

static doctor_state_t look_plugin (doctor_t *d, buffer_t *finding)
{
    GL_AUTOFREE char *file = plugstack_path (d);
    plugstack_t stack;

    if (!exists (file))
        return buffer_say (finding, is_node (d) ? DOCTOR_FAIL : DOCTOR_SKIPPED,
                           "there is no %s", file);
    plugstack_read (file, &stack);
    if (stack.listed == 0)
        return buffer_say (finding, DOCTOR_FAIL, "%s does not list " PLUGIN,
                           file);
    if (stack.path[0] == '/' && !exists (stack.path))
        return buffer_say (finding, DOCTOR_FAIL,
                           "%s names %s, which is not "
                           "there",
                           file, stack.path);
    if (strcmp (stack.kind, "optional") != 0)
        return buffer_say (finding, DOCTOR_WARN,
                           "%s has '%s': a plugin that cannot be loaded "
                           "drains the node",
                           file, stack.kind);
    if (stack.listed > 1)
        return buffer_say (finding, DOCTOR_WARN, "%s lists it %zu times", file,
                           stack.listed);
    if (stack.at > 1)
        return buffer_say (finding, DOCTOR_WARN,
                           "it is plugin %zu of %s: a plugin before it that "
                           "fails hides a job from it",
                           stack.at, file);
    return buffer_say (finding, DOCTOR_OK, "%s, first, optional", file);
}

/* Clients see only a part of what jobs ask for, and users can avoid them. */
static doctor_state_t look_policy (doctor_t *d, buffer_t *finding)
{
    GL_AUTOFREE char *file = plugstack_path (d);
    GL_AUTOFREE char *plugins = NULL;
    plugstack_t stack;
    doctor_state_t state;

    plugstack_read (file, &stack);
    if (stack.listed == 0)
        return buffer_say (finding, DOCTOR_SKIPPED, "no plugin in %s", file);
    if (stack.policy[0] == '\0' || strcmp (stack.policy, "off") == 0)
        return buffer_say (finding, DOCTOR_OK, "no policy= in %s", file);
    if (!doctor_ask_slurm (d, finding, &state))
        return state;
    plugins = doctor_slurm_value (d, "JobSubmitPlugins");
    if (!text_in_list (plugins, "lua")
        && !text_in_list (plugins, "job_submit/lua"))
        return buffer_say (finding, DOCTOR_WARN,
                           "policy=%s in %s, but JobSubmitPlugins=%s has no "
                           "lua: --exclusive, scripts from standard input and "
                           "slurmrestd pass the plugin",
                           stack.policy, file, plugins ? plugins : "");
    return buffer_say (finding, DOCTOR_OK, "policy=%s, JobSubmitPlugins=%s",
                       stack.policy, plugins);
}

/* slurmd looks for prologs once, when it starts. A package gives the plugin the time at
 * which it was built; st_ctime is when it was installed. */
static doctor_state_t look_restart (doctor_t *d, buffer_t *finding)
{
    GL_AUTOFREE char *file = NULL;
    plugstack_t stack;
    struct tm started = {.tm_isdst = -1};
    struct stat st;
    char host[256] = "";
    const char *name, *at;

    doctor_state_t state;
    ONLY_NODE (d, finding);
    if (!doctor_ask_slurm (d, finding, &state))
        return state;
    name = d->cli->site ? d->cli->site->agent.node : NULL;
    if (!name && gethostname (host, sizeof (host) - 1) == 0) {
        host[strcspn (host, ".")] = '\0';
        name = host;
    }
    GL_AUTOFREE char *head = xasprintf ("NodeName=%s ", name);
    at = strstr (d->nodes, head);
    at = at ? strstr (at, "SlurmdStartTime=") : NULL;
    if (!at
        || !strptime (at + strlen ("SlurmdStartTime="), "%Y-%m-%dT%H:%M:%S",
                      &started))
        return buffer_say (finding, DOCTOR_UNKNOWN,
                           "slurmctld does not say when slurmd of %s started",
                           name);
    file = plugstack_path (d);
    plugstack_read (file, &stack);
    if (stat (stack.path, &st) < 0)
        return buffer_say (finding, DOCTOR_SKIPPED, "no plugin to check");
    if (st.st_ctime > mktime (&started))
        return buffer_say (finding, DOCTOR_WARN,
                           "%s is newer than the running slurmd", stack.path);
    return buffer_say (finding, DOCTOR_OK, "slurmd started after it");
}

/* --- the spool --------------------------------------------------------- */

static doctor_state_t look_spool (doctor_t *d, buffer_t *finding)
{
    struct stat st;

    if (lstat (d->spool, &st) < 0)
        return buffer_say (finding, DOCTOR_SKIPPED, "no spool at %s: no node",
                           d->spool);
    if (!S_ISDIR (st.st_mode))
        return buffer_say (finding, DOCTOR_FAIL, "%s is not a directory",
                           d->spool);
    if (st.st_uid != 0)
        return buffer_say (finding, DOCTOR_FAIL, "%s belongs to user %u",
                           d->spool, (unsigned)st.st_uid);
    if (st.st_mode & 022)
        return buffer_say (finding, DOCTOR_FAIL,
                           "%s is writable by others (mode %o)", d->spool,
                           (unsigned)st.st_mode & 07777);
    return buffer_say (finding, DOCTOR_OK, "%s", d->spool);
}

static size_t count_files (const char *dir, uint64_t *ret_bytes)
{
    GL_AUTOFREE char *pattern = xasprintf ("%s/*" SPOOL_SUFFIX, dir);
    glob_t found = {0};
    size_t count = 0;

    *ret_bytes = 0;
    if (glob (pattern, GLOB_NOSORT, NULL, &found) == 0) {
        count = found.gl_pathc;
        for (size_t i = 0; i < count; i++) {
            struct stat st;
            if (stat (found.gl_pathv[i], &st) == 0)
                *ret_bytes += (uint64_t)st.st_size;
        }
    }
    globfree (&found);
    return count;
}

/* Nothing seen in a directory that one may not read is not nothing. */
static bool may_read (const char *dir)
{
    return faccessat (AT_FDCWD, dir, R_OK | X_OK, AT_EACCESS) == 0
           || errno != EACCES;
}

#define ONLY_READABLE(dir, finding)                                          \
    do {                                                                     \
        if (!may_read (dir))                                                 \
            return buffer_say (finding, DOCTOR_UNKNOWN, "run this as root"); \
    } while (0)

static doctor_state_t look_room (doctor_t *d, buffer_t *finding)
{
    struct statvfs fs;
    uint64_t bytes;
    size_t segments;

    ONLY_NODE (d, finding);
    ONLY_READABLE (d->spool, finding);
    segments = count_files (d->spool, &bytes);
    if (segments >= SPOOL_SEGMENTS_MAX)
        return buffer_say (finding, DOCTOR_FAIL,
                           "the spool is full: %zu segments; records are "
                           "refused",
                           segments);
    if (statvfs (d->spool, &fs) == 0
        && (uint64_t)fs.f_bavail * fs.f_frsize < (uint64_t)SEGMENT_ROOM)
        return buffer_say (finding, DOCTOR_FAIL,
                           "%" PRIu64 " MiB are free on its disk",
                           (uint64_t)fs.f_bavail * fs.f_frsize >> 20);
    if (segments > SPOOL_SEGMENTS_MAX / 4)
        return buffer_say (finding, DOCTOR_WARN,
                           "%zu of %d segments wait: no agent sends them",
                           segments, SPOOL_SEGMENTS_MAX);
    return buffer_say (finding, DOCTOR_OK, "%zu segment%s, %" PRIu64 " KiB",
                       segments, segments == 1 ? "" : "s", bytes >> 10);
}

/* --- the agent --------------------------------------------------------- */

static doctor_state_t look_agent (doctor_t *d, buffer_t *finding)
{
    GL_AUTOFREE char *lock = xasprintf ("%s/state/agent.lock", d->spool);
    int fd, rc;

    ONLY_NODE (d, finding);
    fd = open (lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == EACCES)
        return buffer_say (finding, DOCTOR_UNKNOWN, "run this as root");
    if (fd < 0)
        return buffer_say (finding, DOCTOR_WARN,
                           "gpuledger-agent has never run on this spool");
    rc = flock (fd, LOCK_SH | LOCK_NB);
    close (fd);
    if (rc == 0)
        return buffer_say (finding, DOCTOR_FAIL, "it is not running");
    return buffer_say (finding, DOCTOR_OK, "it runs");
}

static doctor_state_t look_refused (doctor_t *d, buffer_t *finding)
{
    GL_AUTOFREE char *dir = xasprintf ("%s/refused", d->spool);
    uint64_t bytes;

    ONLY_NODE (d, finding);
    ONLY_READABLE (dir, finding);
    if (count_files (dir, &bytes) == 0)
        return buffer_say (finding, DOCTOR_OK, "none");
    return buffer_say (finding, DOCTOR_WARN,
                       "%" PRIu64 " KiB of records in %s that the collector "
                       "refused",
                       (bytes + 1023) >> 10, dir);
}

struct inventory {
    int64_t snapshot;
    size_t devices, unmapped;
    char problem[257];
};

static int see_inventory (const spool_entry_t *entry, void *arg,
                          gl_error_t *error)
{
    struct inventory *inventory = arg;
    const record_t *r = &entry->record;

    (void)error;
    if (!entry->understood || r->kind != RECORD_INVENTORY)
        return 0;
    if (r->snapshot != inventory->snapshot)
        *inventory = (struct inventory){.snapshot = r->snapshot};
    inventory->devices++;
    if (record_has (r, problem)) {
        inventory->unmapped++;
        snprintf (inventory->problem, sizeof (inventory->problem), "%s",
                  r->problem);
    }
    return 0;
}

static doctor_state_t look_devices (doctor_t *d, buffer_t *finding)
{
    struct inventory inventory = {0};
    gl_error_t error;

    ONLY_NODE (d, finding);
    if (spool_read_dir (d->spool, see_inventory, &inventory, NULL, &error) < 0)
        return buffer_say (finding, DOCTOR_UNKNOWN, "%s", error.text);
    if (inventory.devices == 0)
        return buffer_say (finding, DOCTOR_SKIPPED,
                           "no inventory in the spool: the accounting host "
                           "has those that were sent");
    if (inventory.unmapped)
        return buffer_say (
            finding, DOCTOR_WARN, "%zu of %zu devices have no Slurm index: %s",
            inventory.unmapped, inventory.devices, inventory.problem);
    return buffer_say (finding, DOCTOR_OK, "%zu device%s, all known to Slurm",
                       inventory.devices, inventory.devices == 1 ? "" : "s");
}

/* --- munge and the collector ------------------------------------------- */

static doctor_state_t look_munge (doctor_t *d, buffer_t *finding)
{
    const char *socket
        = d->cli->site ? d->cli->site->collector.munge_socket : NULL;
    gl_error_t error = {""};
    credential_t *credential;
    opened_t opened = {0};
    char *text = NULL;
    int rc = -1;

    if (!is_node (d) && !(d->cli->site && ask_possible (d->cli->site)))
        return buffer_say (finding, DOCTOR_SKIPPED,
                           "not a node, and no collector is configured");
    credential = credential_new (socket, &error);
    if (credential
        && credential_make (credential, "gpuledger", 9, geteuid (), &text,
                            &error)
               == 0
        && credential_open (credential, text, &opened, &error) == CREDENTIAL_OK)
        rc = opened.uid == geteuid () ? 0 : -1;
    free (text);
    free (opened.payload);
    credential_free (credential);
    return rc == 0 ? buffer_say (finding, DOCTOR_OK,
                                 "it encodes and decodes "
                                 "credentials")
                   : buffer_say (finding, DOCTOR_FAIL, "%s", error.text);
}

/* A figure of the collector's status: "NAME VALUE". */
static char *figure (const char *status, const char *name)
{
    size_t length = strlen (name);

    for (const char *line = status; *line;) {
        size_t end = strcspn (line, "\n");
        if (strncmp (line, name, length) == 0 && line[length] == ' ')
            return xstrndup (line + length + 1, end - length - 1);
        line += end + (line[end] == '\n');
    }
    return NULL;
}

static doctor_state_t look_collector (doctor_t *d, buffer_t *finding)
{
    BUFFER_AUTO status = BUFFER_INIT;
    GL_AUTOFREE char *records = NULL;
    GL_AUTOFREE char *clients = NULL;
    gl_error_t error;
    const char *host = NULL;
    int64_t skew = 0;

    if (!d->cli->site || !ask_possible (d->cli->site))
        return buffer_say (finding, DOCTOR_SKIPPED,
                           "no collector is configured");
    if (ask_status (d->cli->site, &status, &skew, &host, &error) < 0)
        return buffer_say (finding, DOCTOR_FAIL, "%s", error.text);
    records = figure (buffer_text (&status), "records");
    clients = figure (buffer_text (&status), "clients");
    buffer_printf (finding, "%s answers", host);
    if (records && clients)
        buffer_printf (finding, "; clients: %s, records: %s", clients, records);
    return DOCTOR_OK;
}

static doctor_state_t look_skew (doctor_t *d, buffer_t *finding)
{
    BUFFER_AUTO status = BUFFER_INIT;
    const char *host = NULL;
    int64_t skew = 0;

    if (!d->cli->site || !ask_possible (d->cli->site))
        return buffer_say (finding, DOCTOR_SKIPPED,
                           "no collector is configured");
    if (ask_status (d->cli->site, &status, &skew, &host, NULL) < 0)
        return buffer_say (finding, DOCTOR_UNKNOWN, "no collector answers");
    if (skew > SKEW_SECONDS || skew < -SKEW_SECONDS)
        return buffer_say (finding, DOCTOR_WARN,
                           "this clock is %" PRId64 " s %s the clock "
                           "of %s",
                           skew < 0 ? -skew : skew,
                           skew < 0 ? "behind" : "before", host);
    return buffer_say (finding, DOCTOR_OK, "within %d s of %s", SKEW_SECONDS,
                       host);
}

const doctor_check_t doctor_node_checks[] = {
    {"node.plugin", "plugstack.conf lists the plugin first, as optional",
     look_plugin,
     "gpuledger setup node, on a login host gpuledger setup login; "
     "plugstack.conf, first line: optional .../gpuledger.so"},
    {"node.policy", "if the plugin has a policy, slurmctld has one too",
     look_policy,
     "copy contrib/job_submit.lua next to slurm.conf and set "
     "JobSubmitPlugins=lua"},
    {"node.slurmd", "slurmd was started after the plugin was installed",
     look_restart, "gpuledger setup node, or systemctl restart slurmd"},
    {"node.spool", "only root can write to the spool", look_spool,
     "gpuledger setup node"},
    {"node.room", "the spool has room", look_room,
     "find out why no records are sent: node.agent, node.collector"},
    {"node.agent", "gpuledger-agent runs", look_agent,
     "gpuledger setup node, or systemctl restart gpuledger-agent"},
    {"node.refused", "the collector accepts all records", look_refused,
     "see the collector's log; then on the accounting host: gpuledger ingest "
     "SPOOL/refused"},
    {"node.devices", "Slurm knows every device", look_devices,
     "set File= and Type= of each GPU and slice in gres.conf; restart slurmd"},
    {"node.munge", "munge works", look_munge, "systemctl restart munge"},
    {"node.collector", "a collector answers", look_collector,
     "gpuledger setup node --collector HOST; the accounting host's firewall"},
    {"node.clock", "the clock agrees with the collector's", look_skew,
     "run chrony or ntpd on both hosts"},
    {0},
};
