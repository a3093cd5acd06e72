/*
 * contexts.c: a fake slurmstepd. The plugin's own sources, compiled with the
 * sanitizers of this build, called as Slurm calls them: the functions of SPANK
 * that it imports are defined here and answer only what the real ones answer
 * in each context. Every Slurm process is a forked one here, so nothing is
 * remembered between them but what is on disk.
 */
#include "support/test.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slurm/spank.h>

#include "record/prices.h"
#include "record/spool_read.h"

#define STEP_BATCH 0xfffffffbu
#define STEP_EXTERN 0xfffffffcu
#define STEP_INTERACTIVE 0xfffffffau

#define COUNT(array) (sizeof (array) / sizeof ((array)[0]))

/* --- what Slurm would know; a test sets it before it starts a process --- */

static struct {
    spank_context_t context;
    uint32_t job, step;
    uid_t uid;
    bool no_items, no_register, in_init;
    const char *const *job_env; /* "NAME=VALUE", ended by NULL */
    const char *project;        /* what spank_option_getopt() finds */
    bool nameless;              /* slurmd does not name the node */
} now;

static char root[64], spool[96], log_file[96], told_file[96];
static struct spank_option *registered[8];
static int options;

spank_context_t spank_context (void)
{
    return now.context;
}

/* Identity is there in steps and job scripts only. */
spank_err_t spank_get_item (spank_t sp, spank_item_t item, ...)
{
    bool identity = now.context == S_CTX_REMOTE
                    || now.context == S_CTX_JOB_SCRIPT;
    spank_err_t rc = ESPANK_SUCCESS;
    va_list ap;

    (void)sp;
    va_start (ap, item);
    if (item == S_SLURM_VERSION)
        *va_arg (ap, char **) = (char *)"22.05.8";
    else if (now.no_items || !identity)
        rc = ESPANK_NOT_AVAIL;
    else if (item == S_JOB_ID)
        *va_arg (ap, uint32_t *) = now.job;
    else if (item == S_JOB_UID)
        *va_arg (ap, uid_t *) = now.uid;
    else if (item == S_JOB_GID)
        *va_arg (ap, gid_t *) = now.uid;
    else if (item == S_JOB_STEPID && now.context == S_CTX_REMOTE)
        *va_arg (ap, uint32_t *) = now.step;
    else
        rc = ESPANK_NOT_AVAIL;
    va_end (ap);
    return rc;
}

spank_err_t spank_getenv (spank_t sp, const char *name, char *buf, int len)
{
    size_t n = strlen (name);

    (void)sp;
    if (now.context != S_CTX_REMOTE)
        return ESPANK_NOT_REMOTE;
    for (int i = 0; now.job_env && now.job_env[i]; i++) {
        const char *entry = now.job_env[i];
        if (strncmp (entry, name, n) != 0 || entry[n] != '=')
            continue;
        if (strlen (entry + n + 1) >= (size_t)len)
            return ESPANK_NOSPACE; /* buf is left as it is */
        strcpy (buf, entry + n + 1);
        return ESPANK_SUCCESS;
    }
    return ESPANK_ENV_NOEXIST;
}

/* What a step is told: lines of a file, the last one of a name counts. */
static spank_err_t set_job_env (const char *name, const char *value)
{
    FILE *stream;

    if (now.context != S_CTX_REMOTE)
        return ESPANK_NOT_REMOTE;
    stream = fopen (told_file, "a");
    fprintf (stream, "%s=%s\n", name, value ? value : "(unset)");
    fclose (stream);
    return ESPANK_SUCCESS;
}

spank_err_t spank_setenv (spank_t sp, const char *name, const char *value,
                          int overwrite)
{
    (void)sp;
    return overwrite ? set_job_env (name, value) : ESPANK_BAD_ARG;
}

spank_err_t spank_unsetenv (spank_t sp, const char *name)
{
    (void)sp;
    return set_job_env (name, NULL);
}

/* The real one dereferences NULL in prolog and epilog. */
spank_err_t spank_job_control_setenv (spank_t sp, const char *name,
                                      const char *value, int overwrite)
{
    (void)sp;
    (void)overwrite;
    if (now.context != S_CTX_LOCAL && now.context != S_CTX_ALLOCATOR)
        abort ();
    slurm_debug ("handed on: %s=%s", name, value);
    return ESPANK_SUCCESS;
}

spank_err_t spank_option_register (spank_t sp, struct spank_option *option)
{
    (void)sp;
    if (!now.in_init || now.no_register || options == COUNT (registered))
        return ESPANK_BAD_ARG;
    registered[options++] = option;
    return ESPANK_SUCCESS;
}

spank_err_t spank_option_getopt (spank_t sp, struct spank_option *option,
                                 char **optarg)
{
    (void)sp;
    if (now.context != S_CTX_JOB_SCRIPT)
        return ESPANK_NOT_AVAIL;
    if (strcmp (option->name, "gpu-project") != 0 || !now.project)
        return ESPANK_ERROR;
    *optarg = (char *)now.project;
    return ESPANK_SUCCESS;
}

#define DEFINE_LOG(function, level) \
    void function (const char *format, ...) \
    { \
        FILE *stream = fopen (log_file, "a"); \
        va_list ap; \
        va_start (ap, format); \
        fputs (level ": ", stream); \
        vfprintf (stream, format, ap); \
        fputs ("\n", stream); \
        va_end (ap); \
        fclose (stream); \
    }
DEFINE_LOG (slurm_error, "error")
DEFINE_LOG (slurm_debug, "debug")
DEFINE_LOG (slurm_spank_log, "say")

/* --- processes of Slurm --- */

typedef int (*hook_f) (spank_t sp, int ac, char *av[]);

static char spool_argument[128];
static char *arguments[] = {spool_argument, NULL};

static int call (hook_f hook)
{
    int rc;

    now.in_init = hook == slurm_spank_init;
    rc = hook (NULL, 1, arguments);
    now.in_init = false;
    return rc;
}

static int open_descriptors (void)
{
    DIR *stream = opendir ("/proc/self/fd");
    int n = 0;

    while (readdir (stream))
        n++;
    closedir (stream);
    return n;
}

/* Run hooks in a process of their own; they must return 0, leave no descriptor
 * open, and not crash. */
static void run (spank_context_t context, hook_f first, hook_f second)
{
    int status;
    pid_t pid;

    now.context = context;
    if ((pid = fork ()) == 0) {
        int before, bad = 0;
        close (0);
        if (now.nameless)
            unsetenv ("SLURMD_NODENAME");
        else
            setenv ("SLURMD_NODENAME", "g1", 1);
        before = open_descriptors ();
        bad |= call (first);
        bad |= second ? call (second) : 0;
        _exit (bad != 0 || open_descriptors () != before);
    }
    assert_int_equal (waitpid (pid, &status, 0), pid);
    assert_int_equal (status, 0);
}

static void run_step (uint32_t job, uint32_t step, const char *const *env)
{
    now.job = job;
    now.step = step;
    unlink (told_file);
    now.job_env = env;
    run (S_CTX_REMOTE, slurm_spank_init, slurm_spank_init_post_opt);
}

static void run_script (uint32_t job, hook_f hook)
{
    now.job = job;
    run (S_CTX_JOB_SCRIPT, hook, NULL);
}

/* --- what they left --- */

static struct {
    int count;
    record_t at[64];
} seen;

static int take (const spool_entry_t *entry, void *arg, gl_error_t *error)
{
    (void)arg;
    (void)error;
    assert_true (seen.count < 64);
    seen.at[seen.count++] = entry->record;
    return 0;
}

static int read_records (void)
{
    spool_stats_t stats = {0};

    seen.count = 0;
    assert_int_equal (spool_read_dir (spool, take, NULL, &stats, NULL), 0);
    assert_int_equal (stats.skipped_bytes, 0);
    return seen.count;
}

static int log_lines (const char *part)
{
    FILE *stream = fopen (log_file, "r");
    char line[4096];
    int n = 0;

    while (stream && fgets (line, sizeof (line), stream))
        n += strstr (line, part) != NULL;
    if (stream)
        fclose (stream);
    return n;
}

/* What the last step was told; NULL: nothing of this name. */
static const char *told (const char *name)
{
    static char value[4096];
    FILE *stream = fopen (told_file, "r");
    char line[4096];
    bool found = false;

    while (stream && fgets (line, sizeof (line), stream)) {
        if (strncmp (line, name, strlen (name)) != 0
            || line[strlen (name)] != '=')
            continue;
        line[strcspn (line, "\n")] = '\0';
        strcpy (value, line + strlen (name) + 1);
        found = true;
    }
    if (stream)
        fclose (stream);
    return found ? value : NULL;
}

static int set_up (void **state)
{
    (void)state;
    memset (&now, 0, sizeof (now));
    now.uid = 1000;
    options = 0;
    strcpy (root, "/tmp/gpuledger-contexts.XXXXXX");
    if (!mkdtemp (root))
        return -1;
    snprintf (spool, sizeof (spool), "%s/spool", root);
    snprintf (log_file, sizeof (log_file), "%s/log", root);
    snprintf (told_file, sizeof (told_file), "%s/told", root);
    snprintf (spool_argument, sizeof (spool_argument), "spool=%s", spool);
    arguments[0] = spool_argument;
    return mkdir (spool, 0700);
}

static int tear_down (void **state)
{
    char command[128];

    (void)state;
    snprintf (command, sizeof (command), "rm -rf '%s'", root);
    return system (command);
}

/* --- cases --- */

TEST_CASE (hooks__every_context__return_0)
{
    static const hook_f hooks[] = {slurm_spank_init, slurm_spank_init_post_opt,
                                   slurm_spank_job_prolog,
                                   slurm_spank_job_epilog};

    for (int context = 0; context < 9; context++) {
        for (size_t i = 0; i < COUNT (hooks); i++) {
            run ((spank_context_t)context, hooks[i], NULL);
            now.no_items = now.no_register = true;
            run ((spank_context_t)context, hooks[i], NULL);
            now.no_items = now.no_register = false;
        }
    }
    run ((spank_context_t)0x7fffffff, slurm_spank_init, NULL);
    run ((spank_context_t)-1, slurm_spank_init, NULL);
}

TEST_CASE (job__life__leaves_its_records_in_order)
{
    static const char *const env[] = {"SLURM_JOB_GPUS=0,1,4,5",
                                      "SLURM_GPUS_ON_NODE=4",
                                      "SLURM_CLUSTER_NAME=forged", NULL};

    run (S_CTX_ALLOCATOR, slurm_spank_init, slurm_spank_init_post_opt);
    now.project = "alpha";
    setenv ("SLURM_CLUSTER_NAME", "lab", 1);
    run_script (42, slurm_spank_job_prolog);
    unsetenv ("SLURM_CLUSTER_NAME");
    run_step (42, STEP_BATCH, env);
    run_script (42, slurm_spank_job_epilog);
    assert_int_equal (read_records (), 3);
    assert_int_equal (seen.at[0].kind, RECORD_JOB_START);
    assert_string_equal (seen.at[0].project, "alpha");
    assert_int_equal (seen.at[0].project_source, RECORD_SOURCE_UNKNOWN);
    assert_int_equal (seen.at[1].kind, RECORD_STEP_DEVICES);
    assert_string_equal (seen.at[1].gpus, "0,1,4,5");
    assert_int_equal (seen.at[1].devices, RECORD_DEVICES_COMPLETE);
    assert_int_equal (seen.at[1].gpus_on_node, 4);
    assert_string_equal (seen.at[1].cluster, "lab");
    assert_string_equal (seen.at[1].node, "g1");
    assert_int_equal (seen.at[1].uid, 1000);
    assert_int_equal (seen.at[2].kind, RECORD_JOB_END);
    assert_int_equal (log_lines (""), 0);
}

TEST_CASE (step__of_20_11__has_the_name_of_its_prolog_and_one_type)
{
    static const char *const env[]
        = {"SLURM_JOB_GPUS=0", "SLURMD_NODENAME=forged", NULL};

    run_script (42, slurm_spank_job_prolog);
    now.nameless = true;
    run_step (42, STEP_BATCH, env);
    assert_int_equal (read_records (), 2);
    assert_string_equal (seen.at[1].node, "g1");
    assert_int_equal (seen.at[1].devices, RECORD_DEVICES_LAST_TYPE);
}

TEST_CASE (steps__same_devices__one_record_each_new_set)
{
    static const char *const one[] = {"SLURM_STEP_GPUS=0",
                                      "SLURM_JOB_GPUS=7", NULL};
    static const char *const two[] = {"SLURM_STEP_GPUS=0,1", NULL};

    for (uint32_t step = 0; step < 5; step++)
        run_step (42, step, one);
    run_step (42, 5, two);
    run_step (42, 6, one);
    run_step (43, 0, one);
    assert_int_equal (read_records (), 3);
    assert_string_equal (seen.at[0].gpus, "0");
    assert_int_equal (seen.at[0].devices, RECORD_DEVICES_LOWER_BOUND);
    assert_string_equal (seen.at[1].gpus, "0,1");
    assert_int_equal (seen.at[2].job_id, 43);
    run_script (42, slurm_spank_job_epilog);
    run_step (42, 0, one); /* requeued onto the same node */
    assert_int_equal (read_records (), 5);
}

TEST_CASE (steps__without_devices__write_nothing)
{
    static const char *const inherited[] = {"SLURM_JOB_GPUS=0,1",
                                            "CUDA_VISIBLE_DEVICES=0", NULL};
    static const char *const none[] = {"SLURM_GPUS_ON_NODE=0", NULL};
    static const char *const counted[]
        = {"SLURM_JOB_GPUS=0,1", "SLURM_GPUS_ON_NODE=2", NULL};

    run_step (42, 0, inherited); /* srun hands on the batch step's list */
    run_step (42, STEP_EXTERN, inherited);
    run_step (42, STEP_BATCH, none);
    run_step (42, STEP_INTERACTIVE, NULL);
    assert_int_equal (read_records (), 0);
    run_step (42, STEP_INTERACTIVE, counted);
    assert_int_equal (read_records (), 1);
    assert_int_equal (seen.at[0].devices, RECORD_DEVICES_COMPLETE);
}

TEST_CASE (step__devices_not_shown__are_marked_unknown)
{
    static char longest[20000];
    const char *const counted[] = {"SLURM_GPUS_ON_NODE=2", NULL};
    const char *const too_long[] = {longest, NULL};
    const char *const control[] = {"SLURM_STEP_GPUS=0\n1", NULL};

    memset (longest, '1', sizeof (longest) - 1);
    memcpy (longest, "SLURM_STEP_GPUS=", 16);
    run_step (42, 0, counted);
    run_step (43, 0, too_long);
    run_step (44, 0, control);
    assert_int_equal (read_records (), 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal (seen.at[i].devices, RECORD_DEVICES_UNKNOWN);
        assert_false (record_has (&seen.at[i], gpus));
        assert_int_equal (seen.at[i].omitted,
                          i == 0 ? 0 : 1 << RECORD_FIELD_gpus);
    }
}

TEST_CASE (spool__missing__costs_one_line_each)
{
    static const char *const env[] = {"SLURM_STEP_GPUS=0", NULL};

    assert_int_equal (rmdir (spool), 0);
    run_script (42, slurm_spank_job_prolog);
    assert_int_equal (log_lines ("error: "), 1);
    run_step (42, 0, env);
    assert_int_equal (log_lines ("error: "), 2);
    run_script (42, slurm_spank_job_epilog);
    assert_int_equal (log_lines ("is not recorded"), 2);
    assert_int_equal (log_lines ("are not recorded"), 1);
    assert_int_equal (log_lines (""), 3);
}

TEST_CASE (prolog__hostile_tags__are_refused_and_marked)
{
    size_t megabyte = 1 << 20;
    char *big = malloc (megabyte);
    const char *const tags[] = {"",      "a\nb",  "a'b", "=cmd", "../x",
                                "\x1b[m", "(null)", "%n%n", big};

    memset (big, 'a', megabyte);
    big[megabyte - 1] = '\0';
    for (size_t i = 0; i < COUNT (tags); i++) {
        now.project = tags[i];
        run_script (42, slurm_spank_job_prolog);
    }
    free (big);
    assert_int_equal (read_records (), COUNT (tags));
    for (int i = 0; i < seen.count; i++) {
        assert_false (record_has (&seen.at[i], project));
        assert_int_equal (seen.at[i].rejected, RECORD_REJECTED_PROJECT);
        assert_int_equal (seen.at[i].project_source, RECORD_SOURCE_NONE);
    }
    assert_int_equal (log_lines (""), 0);
}

TEST_CASE (options__registered__in_contexts_with_an_init)
{
    static const spank_context_t contexts[] = {S_CTX_LOCAL, S_CTX_ALLOCATOR,
                                               S_CTX_REMOTE};
    int status;

    for (size_t i = 0; i < COUNT (contexts); i++) {
        now.context = contexts[i];
        if (fork () == 0) {
            call (slurm_spank_init);
            call (slurm_spank_init); /* listed twice */
            _exit (options == 2
                           && strcmp (registered[0]->name, "gpu-project") == 0
                           && strcmp (registered[1]->name, "gpu-label") == 0
                           && strlen (registered[1]->name)
                                  < SPANK_OPTION_MAXLEN
                       ? 0
                       : 1);
        }
        assert_true (wait (&status) > 0);
        assert_int_equal (status, 0);
    }
}

TEST_CASE (callback__in_a_step__never_fails)
{
    static const char *const values[] = {NULL, "", "=cmd", "a=b,a=c", "ok"};
    int status;

    now.context = S_CTX_ALLOCATOR;
    if (fork () == 0) {
        int bad = 0;
        call (slurm_spank_init);
        for (size_t i = 0; i < COUNT (values); i++) {
            for (int o = 0; o < 2; o++)
                bad |= registered[o]->cb (registered[o]->val, values[i], 1);
        }
        /* in a client the same values are refused */
        for (int i = 0; i < 4; i++) {
            for (int o = 0; o < 2; o++)
                bad |= registered[o]->cb (registered[o]->val, values[i], 0)
                       != -1;
        }
        bad |= registered[0]->cb (registered[0]->val, "ok", 0);
        bad |= registered[1]->cb (registered[1]->val, "a=b", 0);
        _exit (bad);
    }
    assert_true (wait (&status) > 0);
    assert_int_equal (status, 0);
    assert_int_equal (log_lines ("the value is refused"), 8);
}

TEST_CASE (daemon__wrong_arguments__are_told_once)
{
    static char wrong[] = "policy=perhaps";

    arguments[0] = wrong;
    run (S_CTX_SLURMD, slurm_spank_init, NULL);
    assert_int_equal (log_lines ("error: "), 1);
    assert_int_equal (log_lines ("'policy=perhaps': off, warn or require "
                                 "expected; ignored"),
                      1);
}

TEST_CASE (step__of_a_tagged_job__is_told_the_project)
{
    static const char *const plain[] = {"HOME=/", NULL};
    static const char *const user[] = {"GPULEDGER_PROJECT=own", NULL};
    static const char *const outer[]
        = {"GPULEDGER_PROJECT=older", "GPULEDGER_PROJECT_JOB=older",
           "GPULEDGER_PROJECT_USER=own", NULL};

    now.project = "alpha";
    run_script (42, slurm_spank_job_prolog);
    run_step (42, STEP_BATCH, plain);
    assert_string_equal (told ("GPULEDGER_PROJECT"), "alpha");
    assert_string_equal (told ("GPULEDGER_PROJECT_JOB"), "alpha");
    assert_string_equal (told ("GPULEDGER_PROJECT_USER"), "(unset)");
    run_step (42, STEP_BATCH, user);
    assert_string_equal (told ("GPULEDGER_PROJECT"), "alpha");
    assert_string_equal (told ("GPULEDGER_PROJECT_USER"), "own");
    run_step (42, 0, outer); /* told by the step around it, or another job */
    assert_string_equal (told ("GPULEDGER_PROJECT"), "alpha");
    assert_string_equal (told ("GPULEDGER_PROJECT_JOB"), "alpha");
    assert_null (told ("GPULEDGER_PROJECT_USER"));
    run_script (42, slurm_spank_job_epilog);
    run_step (42, 0, plain); /* the job is over */
    assert_null (told ("GPULEDGER_PROJECT"));
}

TEST_CASE (step__of_an_untagged_job__keeps_the_users_own)
{
    static const char *const user[] = {"GPULEDGER_PROJECT=own", NULL};
    static const char *const outer[] = {"GPULEDGER_PROJECT=older",
                                        "GPULEDGER_PROJECT_JOB=older", NULL};
    static const char *const both[]
        = {"GPULEDGER_PROJECT=older", "GPULEDGER_PROJECT_JOB=older",
           "GPULEDGER_PROJECT_USER=own", NULL};

    run_script (42, slurm_spank_job_prolog);
    run_step (42, STEP_BATCH, user);
    assert_null (told ("GPULEDGER_PROJECT"));
    run_step (42, STEP_BATCH, outer);
    assert_string_equal (told ("GPULEDGER_PROJECT"), "(unset)");
    assert_string_equal (told ("GPULEDGER_PROJECT_JOB"), "(unset)");
    run_step (42, STEP_BATCH, both);
    assert_string_equal (told ("GPULEDGER_PROJECT"), "own");
}

#define FOREVER "until 4000000000\n"

static void keep_prices (const char *lines)
{
    char text[1024];
    gl_error_t error;

    snprintf (text, sizeof (text),
              "gpuledger-prices 1\nnode g1\ncurrency USD\n%send\n", lines);
    if (prices_store (spool, "g1", text, strlen (text), &error) < 0)
        fail_msg ("%s", error.text);
}

TEST_CASE (step__with_prices__is_told_those_of_its_devices)
{
    static const char *const batch[]
        = {"SLURM_JOB_GPUS=0,1,4", "GPULEDGER_PRICE_PER_HOUR=1.00", NULL};
    static const char *const step[]
        = {"SLURM_JOB_GPUS=0,1,4", "SLURM_STEP_GPUS=4", NULL};
    static const char *const none[]
        = {"SLURM_JOB_GPUS=0", "GPULEDGER_PRICE_PER_HOUR=1.00", NULL};
    static const prices_device_t devices[]
        = {{0, "h100"}, {1, "h100"}, {4, "1g.10gb"}};

    run_step (42, STEP_BATCH, batch);
    assert_string_equal (told ("GPULEDGER_PRICE_PER_HOUR"), "(unset)");
    keep_prices (FOREVER "price 36000 h100\nprice 5143 1g.10gb\n");
    run_step (42, STEP_BATCH, batch); /* which is which is not known */
    assert_string_equal (told ("GPULEDGER_PRICE_PER_HOUR"), "(unset)");
    assert_int_equal (prices_store_devices (spool, devices, COUNT (devices),
                                            NULL),
                      0);
    run_step (42, STEP_BATCH, batch);
    assert_string_equal (told ("GPULEDGER_PRICE_PER_HOUR"), "7.7143");
    assert_string_equal (told ("GPULEDGER_PRICE_CURRENCY"), "USD");
    run_step (42, 0, step);
    assert_string_equal (told ("GPULEDGER_PRICE_PER_HOUR"), "0.5143");
    run_step (42, 1, none); /* the batch step's list is not this step's */
    assert_string_equal (told ("GPULEDGER_PRICE_PER_HOUR"), "(unset)");
    assert_string_equal (told ("GPULEDGER_PRICE_CURRENCY"), "(unset)");
    run_step (42, STEP_EXTERN, batch);
    assert_null (told ("GPULEDGER_PRICE_PER_HOUR"));
    keep_prices ("until 1000000000\nprice 36000 h100\nprice 5143 1g.10gb\n");
    run_step (42, STEP_BATCH, batch); /* too old */
    assert_string_equal (told ("GPULEDGER_PRICE_PER_HOUR"), "(unset)");
    assert_int_equal (log_lines (""), 0);
}

TEST_CASE (step__hostile_price_file__starts_without_a_price)
{
    static const char *const batch[] = {"SLURM_JOB_GPUS=0", NULL};
    char name[128], command[512];

    snprintf (name, sizeof (name), "%s/prices", spool);
    keep_prices (FOREVER "price 36000 h100\n");
    run_step (42, STEP_BATCH, batch);
    assert_string_equal (told ("GPULEDGER_PRICE_PER_HOUR"), "3.60");
    assert_int_equal (chmod (name, 0666), 0);
    run_step (42, STEP_BATCH, batch); /* others can write to it */
    assert_string_equal (told ("GPULEDGER_PRICE_PER_HOUR"), "(unset)");
    assert_int_equal (chmod (name, 0600), 0);
    assert_int_equal (truncate (name, 60), 0); /* torn */
    run_step (42, STEP_BATCH, batch);
    assert_string_equal (told ("GPULEDGER_PRICE_PER_HOUR"), "(unset)");
    assert_int_equal (truncate (name, (off_t)1 << 32), 0); /* 4 GiB */
    run_step (42, STEP_BATCH, batch);
    assert_string_equal (told ("GPULEDGER_PRICE_PER_HOUR"), "(unset)");
    unlink (name);
    assert_int_equal (symlink ("/dev/zero", name), 0);
    run_step (42, STEP_BATCH, batch);
    assert_string_equal (told ("GPULEDGER_PRICE_PER_HOUR"), "(unset)");
    unlink (name);
    assert_int_equal (mkfifo (name, 0600), 0);
    run_step (42, STEP_BATCH, batch);
    assert_string_equal (told ("GPULEDGER_PRICE_PER_HOUR"), "(unset)");
    snprintf (command, sizeof (command), "rm -f '%s' && head -c 65536 "
              "/dev/urandom >'%s'", name, name);
    assert_int_equal (system (command), 0);
    run_step (42, STEP_BATCH, batch);
    assert_string_equal (told ("GPULEDGER_PRICE_PER_HOUR"), "(unset)");
    assert_int_equal (log_lines ("error: "), 0);
    assert_int_equal (log_lines ("debug: gpuledger: no price: "), 6);
}

TEST_MAIN_EACH (set_up, tear_down)
