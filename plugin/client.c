/* client.c: in srun (LOCAL), sbatch and salloc (ALLOCATOR): read the tag, ask
 * the policy, hand the tag on. Runs as the user. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/tag.h"
#include "args.h"
#include "contexts.h"
#include "gres/tres.h"
#include "once.h"
#include "options.h"

/* --- what the policy says ----------------------------------------------- */

/*
 * The allow-list of projects, by user (docs/formats/projects.md).
 *
 *     # name [user ... | account:NAME ...]
 *     alpha  alice bob
 *     beta   account:vision
 *     open
 *
 * A project without users is open to all. SPANK cannot see the account that a
 * job is submitted under, so at submit an `account:` entry lets every user
 * pass; job_submit and the host decide those. The file is read anew for each
 * submission, line by line, at most POLICY_FILE_MAX bytes of it.
 */

/* 1 MiB holds some 20,000 projects and is read in about a millisecond. */
#define POLICY_FILE_MAX (1 << 20)
#define POLICY_LINE_MAX 4096
#define POLICY_LIST_MAX 1024

typedef struct {
    bool known;                  /* `project` may be used by `user` */
    char yours[POLICY_LIST_MAX]; /* "a, b": the user's projects, cut with
                                  * ", ..." when there are many; "": none */
} policy_answer_t;

#define BLANK " \t\r"
#define ACCOUNT "account:"
#define MORE ", ..."

struct question {
    const char *user;
    const char *project;
    policy_answer_t *answer;
};

/* The next word of *cursor, cut out in place; NULL at the end. */
static char *next_word (char **cursor)
{
    char *word = *cursor + strspn (*cursor, BLANK);
    char *end = word + strcspn (word, BLANK);

    if (*word == '\0')
        return NULL;
    *cursor = end + (*end != '\0');
    *end = '\0';
    return word;
}

static bool open_to (const char *user, char *words)
{
    char *word;
    bool anyone = true;

    while ((word = next_word (&words))) {
        anyone = false;
        if (strcmp (word, user) == 0
            || strncmp (word, ACCOUNT, strlen (ACCOUNT)) == 0)
            return true;
    }
    return anyone;
}

static void list (policy_answer_t *answer, const char *name)
{
    size_t used = strlen (answer->yours), length = strlen (name);

    if (used >= strlen (MORE)
        && strcmp (answer->yours + used - strlen (MORE), MORE) == 0)
        return;
    if (used + 2 + length + strlen (MORE) >= sizeof (answer->yours)) {
        strcat (answer->yours, MORE);
        return;
    }
    if (used > 0)
        strcat (answer->yours, ", ");
    strcat (answer->yours, name);
}

static int read_line (char *line, const struct question *question,
                      gl_error_t *error)
{
    char *cursor = line, *name;

    line[strcspn (line, "#\n")] = '\0';
    if (!(name = next_word (&cursor)))
        return 0;
    if (!tag_valid (name, strlen (name)))
        return gl_error (error, "the first word is not a project name (1-64 of "
                                "A-Z a-z 0-9 . _ -)");
    if (!open_to (question->user, cursor))
        return 0;
    list (question->answer, name);
    if (question->project && strcmp (name, question->project) == 0)
        question->answer->known = true;
    return 0;
}

static int read_lines (FILE *stream, const char *file,
                       const struct question *question, gl_error_t *error)
{
    char line[POLICY_LINE_MAX];
    int number = 0;

    while (fgets (line, sizeof (line), stream)) {
        number++;
        if (!strchr (line, '\n') && !feof (stream))
            return gl_error (error, "%s:%d: longer than %d bytes", file, number,
                             POLICY_LINE_MAX - 2);
        if (read_line (line, question, error) < 0)
            return gl_error_prefix (error, "%s:%d", file, number);
    }
    if (ferror (stream))
        return gl_error (error, "%s: %s", file, strerror (errno));
    return 0;
}

static FILE *open_list (const char *file, gl_error_t *error)
{
    int fd = open (file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *stream = NULL;
    struct stat st;

    if (fd < 0 || fstat (fd, &st) < 0)
        gl_error (error, "%s: %s", file, strerror (errno));
    else if (!S_ISREG (st.st_mode))
        gl_error (error, "%s: not a regular file", file);
    else if (st.st_size > POLICY_FILE_MAX)
        gl_error (error, "%s: larger than %d bytes", file, POLICY_FILE_MAX);
    else if (!(stream = fdopen (fd, "r")))
        gl_error (error, "%s: %s", file, strerror (errno));
    if (!stream && fd >= 0)
        close (fd);
    return stream;
}

/* `project` may be NULL (then it is not known). An error (no such file, a line
 * that breaks the format, with its number) says nothing about the project. */
static int policy_ask (const char *file, const char *user, const char *project,
                       policy_answer_t *ret_answer, gl_error_t *error)
{
    policy_answer_t answer = {.known = false};
    struct question question = {user, project, &answer};
    FILE *stream = open_list (file, error);
    int rc;

    if (!stream)
        return -1;
    rc = read_lines (stream, file, &question, error);
    fclose (stream);
    if (rc == 0)
        *ret_answer = answer;
    return rc;
}

/* --- what is asked for -------------------------------------------------- */

/*
 * What a submission asks for, as far as a client can see it.
 *
 * SPANK does not show a plugin the request. The plugin reads what Slurm reads:
 * the words of its own command line, the defaults in the environment
 * (SBATCH_GRES, ...) and the #SBATCH lines of a script that is a file. It
 * cannot see a script that comes from standard input or a pipe, whether the
 * partition's nodes have GPUs (--exclusive), and defaults that a site sets
 * elsewhere. There it sees no request, and contrib/job_submit.lua decides.
 *
 * Nothing is kept between calls; what is read is bounded; a file that cannot be
 * read has no directives.
 */

/* A longer command line or script is read in part. */
#define READ_MAX (64 * 1024)
#define DIRECTIVE "#SBATCH"

/* Reads at most `size` bytes; -1: the file cannot be read. Only regular files are
 * read, so that this never waits: sbatch has emptied a pipe already. */
static ssize_t read_file (const char *path, char *buffer, size_t size)
{
    int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    ssize_t got = -1;
    size_t used = 0;

    if (fd < 0)
        return -1;
    if (fstat (fd, &st) == 0 && S_ISREG (st.st_mode)) {
        do {
            got = read (fd, buffer + used, size - used);
            used += got > 0 ? (size_t)got : 0;
        } while (got > 0 && used < size);
    }
    close (fd);
    return got < 0 ? -1 : (ssize_t)used;
}

/* Our own command line; a word that is cut at the end is left out. */
static bool read_command (char buffer[READ_MAX], gres_words_t *ret_words)
{
    ssize_t size = read_file ("/proc/self/cmdline", buffer, READ_MAX);

    while (size > 0 && buffer[size - 1] != '\0')
        size--;
    *ret_words = (gres_words_t){buffer, size > 0 ? (size_t)size : 0};
    return size > 0;
}

/* `srun --jobid=7` runs a step in a job that is there. Any word of the command
 * line counts: one of the program's own only spares a question. True also where
 * the command line cannot be read. */
static bool request_names_a_job (void)
{
    char buffer[READ_MAX];
    gres_words_t words;

    if (!read_command (buffer, &words))
        return true;
    for (size_t at = 0; at < words.size; at += strlen (words.text + at) + 1) {
        if (strncmp (words.text + at, "--jobi", 6) == 0)
            return true;
    }
    return false;
}

/* --- options that the command line replaces --- */

typedef struct {
    char text[READ_MAX];
    size_t size;
} words_t;

/* A word that does not fit is left out. */
static void add_word (words_t *words, const char *option, const char *value,
                      size_t length)
{
    size_t before = strlen (option);

    if (before + length >= sizeof (words->text) - words->size)
        return;
    memcpy (words->text + words->size, option, before);
    memcpy (words->text + words->size + before, value, length);
    words->size += before + length + 1;
    words->text[words->size - 1] = '\0';
}

static void add_environment (words_t *words, const char *prefix)
{
    static const struct {
        const char *name, *option;
    } defaults[] = {
        {"GRES", "--gres="},
        {"GPUS", "--gpus="},
        {"GPUS_PER_NODE", "--gpus-per-node="},
        {"GPUS_PER_SOCKET", "--gpus-per-socket="},
        {"GPUS_PER_TASK", "--gpus-per-task="},
        {"TRES_PER_TASK", "--tres-per-task="},
    };

    for (size_t i = 0; i < sizeof (defaults) / sizeof (defaults[0]); i++) {
        char name[64];
        const char *value;
        snprintf (name, sizeof (name), "%s%s", prefix, defaults[i].name);
        value = getenv (name);
        if (value)
            add_word (words, defaults[i].option, value, strlen (value));
    }
}

/* The next word of a directive as sbatch reads it, with quotes and backslashes
 * taken out in place; NULL at the end or at a comment. */
static char *next_argument (char **cursor)
{
    char *at = *cursor + strspn (*cursor, " \t\r\v\f"), *word = at, *to = at;
    char quote = '\0';

    if (*at == '\0' || *at == '#')
        return NULL;
    for (; *at && (quote || !isspace ((unsigned char)*at)); at++) {
        if (*at == '\\' && at[1])
            *to++ = *++at;
        else if (quote ? *at == quote : *at == '"' || *at == '\'')
            quote = quote ? '\0' : *at;
        else
            *to++ = *at;
    }
    *cursor = *at ? at + 1 : at;
    *to = '\0';
    return word;
}

/* One line behind "#SBATCH"; `hetjob` begins the next component. */
static void read_directive (char *line, size_t component, size_t *number,
                            words_t *words)
{
    char *word;

    while ((word = next_argument (&line))) {
        if (strcmp (word, "hetjob") == 0 || strcmp (word, "packjob") == 0)
            ++*number;
        else if (*number == component)
            add_word (words, "", word, strlen (word));
    }
}

/* sbatch reads up to the first line that is a command. */
static void add_script (words_t *words, const char *path, size_t component)
{
    char body[READ_MAX];
    ssize_t size = read_file (path, body, sizeof (body) - 1);
    size_t number = 0;
    char *line = body, *next;

    if (size < 2 || memcmp (body, "#!", 2) != 0)
        return;
    body[size] = '\0';
    for (; line; line = next) {
        next = strchr (line, '\n');
        if (next)
            *next++ = '\0';
        if (strncmp (line, DIRECTIVE, strlen (DIRECTIVE)) == 0)
            read_directive (line + strlen (DIRECTIVE), component, &number,
                            words);
        else if (!strchr ("#", line[strspn (line, " \t\r\v\f")]))
            return;
    }
}

/* --- the script of sbatch --- */

static bool try_script (char path[PATH_MAX], const char *directory,
                        size_t length, const char *name)
{
    int n = snprintf (path, PATH_MAX, "%.*s/%s", (int)length, directory, name);
    struct stat st;

    return n < PATH_MAX && stat (path, &st) == 0 && S_ISREG (st.st_mode)
           && access (path, R_OK) == 0;
}

/* sbatch looks in --chdir or the working directory, in PATH, and then takes the
 * name as it is. */
static const char *find_script (char path[PATH_MAX], const char *name,
                                const char *directory)
{
    const char *at = getenv ("PATH");
    size_t length;

    if (name[0] == '/' || name[0] == '.')
        return name;
    if (!directory)
        directory = ".";
    if (try_script (path, directory, strlen (directory), name))
        return path;
    for (; at && *at; at += length + (at[length] == ':')) {
        length = strcspn (at, ":");
        if (length > 0 && length < PATH_MAX
            && try_script (path, at, length, name))
            return path;
    }
    return name;
}

/* "/usr/bin/salloc" */
static bool is_program (gres_words_t command, const char *name)
{
    const char *slash = strrchr (command.text, '/');

    return strncmp (slash ? slash + 1 : command.text, name, strlen (name)) == 0;
}

static void add_batch (words_t *words, gres_words_t command, size_t component)
{
    const char *directory = NULL;
    const char *script = gres_script_of_words (command, &directory);
    char path[PATH_MAX];

    if (script)
        add_script (words, find_script (path, script, directory), component);
    add_environment (words, "SBATCH_");
}

/* Component `component` (from 0) of this client's job asks for GPUs, shards or
 * MPS. */
static bool request_asks_for_gpus (size_t component)
{
    char buffer[READ_MAX];
    words_t before = {.size = 0};
    gres_words_t command;

    if (!read_command (buffer, &command))
        return false;
    add_word (&before, "defaults", "", 0);
    if (is_program (command, "srun"))
        add_environment (&before, "SLURM_");
    else if (is_program (command, "salloc"))
        add_environment (&before, "SALLOC_");
    else
        add_batch (&before, command, component);
    return gres_in_words (command, component,
                          (gres_words_t){before.text, before.size})
           != 0;
}

/* --- the hook ----------------------------------------------------------- */

void client_init (spank_t sp, int ac, char **av)
{
    args_t args;

    if (!once_claim ())
        return;
    args_parse (&args, ac, av, slurm_error);
    options_save_inherited ();
    options_register (sp);
}

static bool is_new_allocation (void)
{
    if (spank_context () == S_CTX_ALLOCATOR)
        return true;
    return !getenv ("SLURM_JOB_ID") && !getenv ("SLURM_JOBID")
           && !request_names_a_job ();
}

/* The name as the allow-list spells it, or the number of a user without. */
static const char *user_name (void)
{
    static char number[16];
    const struct passwd *entry = getpwuid (getuid ());

    if (entry && entry->pw_name)
        return entry->pw_name;
    snprintf (number, sizeof (number), "%u", (unsigned)getuid ());
    return number;
}

/* What the list says; without one, every well-formed project is known. A list
 * that cannot be read is reported and does not count against the user. */
static policy_answer_t ask (const args_t *args, const char *project)
{
    policy_answer_t answer = {.known = true};
    gl_error_t error;

    if (args->projects
        && policy_ask (args->projects, user_name (), project, &answer, &error)
               < 0) {
        answer = (policy_answer_t){.known = true};
        slurm_error ("gpuledger: projects are not checked: %s", error.text);
    }
    return answer;
}

static void complain (const args_t *args, const char *project,
                      const policy_answer_t *answer, bool refused)
{
    void (*say) (const char *format, ...)
        __attribute__ ((format (printf, 1, 2)));
    const char *before = "; you have none", *after = "";

    say = refused ? slurm_error : slurm_spank_log;
    if (answer->yours[0]) {
        before = "; yours are: ";
        after = answer->yours;
    } else if (!args->projects)
        before = "";
    if (project[0])
        say ("gpuledger: unknown project '%s'%s%s", project, before, after);
    else
        say (
            "gpuledger: no project given: use --gpu-project=NAME or set %s%s%s",
            options_environment (OPTION_PROJECT), before, after);
}

/* Only requests for GPUs are refused, for each component of a het job on its
 * own. Others pass; the user is told that a project is unknown. exit() because a
 * plugin marked `optional` cannot refuse by its return value. */
static void check (const args_t *args, const char *project, size_t component)
{
    static bool told;
    policy_answer_t answer = ask (args, project[0] ? project : NULL);
    bool gpus, refused;

    if (project[0] && answer.known)
        return;
    gpus = request_asks_for_gpus (component);
    refused = gpus && args->policy == POLICY_REQUIRE;
    if (refused || (!told && (gpus || project[0]))) {
        complain (args, project, &answer, refused);
        told = true;
    }
    if (refused)
        exit (1);
}

static void tell_rejected (option_t which, const option_value_t *value)
{
    if (value->rejected)
        slurm_error ("gpuledger: %s holds no valid value; ignored",
                     options_environment (which));
}

static void tell_all_rejected (const option_value_t values[])
{
    for (int i = 0; i < OPTION_COUNT; i++)
        tell_rejected (i, &values[i]);
}

static void quiet (const char *format, ...)
{
    (void)format;
}

/* Once for each component of a het job. */
void client_init_post_opt (spank_t sp, int ac, char **av)
{
    static unsigned calls;
    static size_t component;
    option_value_t values[OPTION_COUNT];
    args_t args;

    once_unmark ();
    if (!once_turn (&calls))
        return;
    args_parse (&args, ac, av, quiet);
    for (int i = 0; i < OPTION_COUNT; i++)
        options_resolve (i, &values[i]);
    if (component == 0)
        tell_all_rejected (values);
    if (args.policy != POLICY_OFF && is_new_allocation ())
        check (&args, values[OPTION_PROJECT].text, component);
    component++;
    for (int i = 0; i < OPTION_COUNT; i++) {
        options_hand_on (sp, i, &values[i]);
        if (spank_context () == S_CTX_LOCAL)
            options_export (i, &values[i]);
    }
}
