/* What Slurm must be set to (docs/guides/plugin.md), as slurmctld has it. */
#include <ctype.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "doctor/doctor.h"
#include "site/site.h"

/* --- words ------------------------------------------------------------- */

static bool list_has_any (const char *list, const char *const *words)
{
    for (; *words; words++) {
        if (text_in_list (list, *words))
            return true;
    }
    return false;
}

/* Calls `see` with the GPU types of the nodes ("" for an untyped GPU) and the
 * node's name. */
typedef void (*type_f) (const char *type, const char *node, void *arg);

static void see_gres (const char *text, size_t length, const char *node,
                      type_f see, void *arg)
{
    for (size_t at = 0; at < length;) {
        const char *item = text + at;
        size_t n = 0, depth = 0, word;
        while (at + n < length && (depth > 0 || item[n] != ',')) {
            depth += (item[n] == '(') - (item[n] == ')');
            n++;
        }
        at += n + 1;
        if (n < 4 || strncmp (item, "gpu:", 4) != 0)
            continue;
        word = strcspn (item + 4, ":(,");
        if (word > n - 4)
            word = n - 4;
        GL_AUTOFREE char *type
            = xstrndup (item + 4, item[4 + word] == ':' ? word : 0);
        see (type, node, arg);
    }
}

static char *word_after (const char *text, const char *key)
{
    const char *at = strstr (text, key);

    return at ? xstrndup (at + strlen (key), strcspn (at + strlen (key), " \n"))
              : NULL;
}

static void each_type (const doctor_t *d, type_f see, void *arg)
{
    const char *next;

    for (const char *node = strstr (d->nodes, "NodeName="); node; node = next) {
        GL_AUTOFREE char *block = NULL;
        GL_AUTOFREE char *name = NULL;
        GL_AUTOFREE char *gres = NULL;
        next = strstr (node + 1, "\nNodeName=");
        block = next ? xstrndup (node, (size_t)(next - node)) : xstrdup (node);
        next = next ? next + 1 : NULL;
        name = word_after (block, "NodeName=");
        gres = word_after (block, " Gres=");
        if (gres)
            see_gres (gres, strlen (gres), name, see, arg);
    }
}

/* --- the checks -------------------------------------------------------- */

#define ASK_SLURM(d, finding)                         \
    do {                                              \
        doctor_state_t unasked;                       \
        if (!doctor_ask_slurm (d, finding, &unasked)) \
            return unasked;                           \
    } while (0)

static doctor_state_t look_prolog (doctor_t *d, buffer_t *finding)
{
    static const char *const imply[]
        = {"Alloc", "Contain", "X11", "ForceRequeueOnFail", NULL};
    GL_AUTOFREE char *flags = NULL;

    ASK_SLURM (d, finding);
    flags = doctor_slurm_value (d, "PrologFlags");
    if (!list_has_any (flags, imply))
        return buffer_say (finding, DOCTOR_FAIL,
                           "PrologFlags=%s: a node without a step never runs "
                           "the prolog",
                           flags ? flags : "");
    if (text_in_list (flags, "NoHold"))
        return buffer_say (
            finding, DOCTOR_WARN,
            "PrologFlags=%s: salloc does not wait for the prolog", flags);
    return buffer_say (finding, DOCTOR_OK, "PrologFlags=%s", flags);
}

static doctor_state_t look_run_in_job (doctor_t *d, buffer_t *finding)
{
    GL_AUTOFREE char *flags = NULL;

    ASK_SLURM (d, finding);
    flags = doctor_slurm_value (d, "PrologFlags");
    if (text_in_list (flags, "RunInJob"))
        return buffer_say (finding, DOCTOR_FAIL,
                           "PrologFlags=%s: prolog and epilog of plugins do "
                           "not run",
                           flags);
    return buffer_say (finding, DOCTOR_OK, "not set");
}

static doctor_state_t look_prep (doctor_t *d, buffer_t *finding)
{
    GL_AUTOFREE char *value = NULL;

    ASK_SLURM (d, finding);
    value = doctor_slurm_value (d, "PrEpPlugins");
    if (!value)
        return buffer_say (finding, DOCTOR_OK, "the default");
    if (!text_in_list (value, "prep/script") && !text_in_list (value, "script"))
        return buffer_say (finding, DOCTOR_FAIL,
                           "PrEpPlugins=%s: nothing calls the plugin's prolog",
                           value);
    return buffer_say (finding, DOCTOR_OK, "PrEpPlugins=%s", value);
}

static doctor_state_t look_accounting (doctor_t *d, buffer_t *finding)
{
    GL_AUTOFREE char *type = NULL;

    ASK_SLURM (d, finding);
    type = doctor_slurm_value (d, "AccountingStorageType");
    if (!type || !strstr (type, "slurmdbd"))
        return buffer_say (finding, DOCTOR_FAIL, "AccountingStorageType=%s",
                           type ? type : "");
    return buffer_say (finding, DOCTOR_OK, "AccountingStorageType=%s", type);
}

struct tres {
    const char *tracked;
    size_t types;
    buffer_t missing;
};

static void see_type (const char *type, const char *node, void *arg)
{
    struct tres *tres = arg;
    GL_AUTOFREE char *word = xasprintf ("gres/gpu:%s", type);

    (void)node;
    if (!type[0])
        return;
    tres->types++;
    if (text_in_list (tres->tracked, word)
        || text_in_list (buffer_text (&tres->missing), word))
        return;
    buffer_printf (&tres->missing, "%s%s", tres->missing.length ? "," : "",
                   word);
}

static doctor_state_t look_tres (doctor_t *d, buffer_t *finding)
{
    struct tres tres = {.missing = BUFFER_INIT};
    GL_AUTOFREE char *value = NULL;
    doctor_state_t state;

    ASK_SLURM (d, finding);
    value = doctor_slurm_value (d, "AccountingStorageTRES");
    tres.tracked = value;
    each_type (d, see_type, &tres);
    if (!text_in_list (value, "gres/gpu"))
        state = buffer_say (finding, DOCTOR_FAIL,
                            "gres/gpu is missing: no GPU is accounted");
    else if (tres.missing.length)
        state = buffer_say (finding, DOCTOR_WARN, "without %s",
                            buffer_text (&tres.missing));
    else
        state
            = buffer_say (finding, DOCTOR_OK, "gres/gpu and the nodes' types");
    buffer_done (&tres.missing);
    return state;
}

struct untyped {
    buffer_t nodes;
    size_t count, all;
};

static void see_untyped (const char *type, const char *node, void *arg)
{
    struct untyped *untyped = arg;

    untyped->all++;
    if (!type[0] && untyped->count++ < 3)
        buffer_printf (&untyped->nodes, "%s%s",
                       untyped->nodes.length ? ", " : "", node);
}

static doctor_state_t look_types (doctor_t *d, buffer_t *finding)
{
    struct untyped untyped = {.nodes = BUFFER_INIT};
    doctor_state_t state;

    ASK_SLURM (d, finding);
    each_type (d, see_untyped, &untyped);
    if (untyped.all == 0)
        state = buffer_say (finding, DOCTOR_WARN,
                            "no node has Gres=gpu: there is nothing to "
                            "account");
    else if (untyped.count)
        state = buffer_say (
            finding, DOCTOR_WARN, "GPUs without a type on %zu node%s: %s%s",
            untyped.count, untyped.count == 1 ? "" : "s",
            buffer_text (&untyped.nodes), untyped.count > 3 ? ", ..." : "");
    else
        state = buffer_say (finding, DOCTOR_OK, "every GPU has a type");
    buffer_done (&untyped.nodes);
    return state;
}

/* What slurmdbd keeps, and for how long. */
static doctor_state_t look_slurmdbd (doctor_t *d, buffer_t *finding)
{
    static const char *const argv[]
        = {"sacctmgr", "show", "configuration", NULL};
    gl_error_t error;
    doctor_t dbd = {0};
    GL_AUTOFREE char *purge = NULL;

    ASK_SLURM (d, finding);
    dbd.slurm = doctor_run (argv, &error);
    if (!dbd.slurm)
        return buffer_say (finding, DOCTOR_UNKNOWN, "%s", error.text);
    purge = doctor_slurm_value (&dbd, "PurgeJobAfter");
    free (dbd.slurm);
    if (!purge)
        return buffer_say (finding, DOCTOR_UNKNOWN,
                           "sacctmgr does not show PurgeJobAfter");
    if (strcmp (purge, "NONE") == 0)
        return buffer_say (finding, DOCTOR_OK, "jobs are kept");
    return buffer_say (finding, DOCTOR_WARN,
                       "PurgeJobAfter=%s: jobs that were not synced by then "
                       "are lost",
                       purge);
}

const doctor_check_t doctor_slurm_checks[] = {
    {"slurm.prolog", "PrologFlags has Alloc", look_prolog,
     "slurm.conf: PrologFlags=Alloc"},
    {"slurm.run_in_job", "PrologFlags does not have RunInJob", look_run_in_job,
     "slurm.conf: remove RunInJob from PrologFlags"},
    {"slurm.prep", "PrEpPlugins has prep/script", look_prep,
     "slurm.conf: PrEpPlugins=prep/script"},
    {"slurm.accounting", "accounting goes to slurmdbd", look_accounting,
     "slurm.conf: AccountingStorageType=accounting_storage/slurmdbd"},
    {"slurm.tres", "AccountingStorageTRES has gres/gpu and each type",
     look_tres,
     "slurm.conf: AccountingStorageTRES=gres/gpu,gres/gpu:TYPE,...; restart "
     "slurmctld"},
    {"slurm.types", "every GPU has a type", look_types,
     "gres.conf and slurm.conf: Type= for every GPU and slice"},
    {"slurm.purge", "slurmdbd keeps jobs", look_slurmdbd,
     "slurmdbd.conf: Purge...After longer than the time between two syncs"},
    {0},
};
