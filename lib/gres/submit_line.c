/*
 * Submit lines (tres.h): the options of sbatch, srun and salloc as
 * getopt_long() reads them there, up to the script or program.
 *
 * slurmdbd keeps the words of the command joined by one blank each, so that a
 * value with a blank in it looks like several words. The value of
 * --wrap is a whole command and mostly has blanks. All behind `--wrap=` counts
 * as the command. Behind `--wrap COMMAND`, as the command alone is mostly
 * quoted then, words at the end that are all options are options again (with
 * --wrap sbatch takes no script): "--wrap sleep 30 -p gpu --gpus 1". None of
 * this applies to the words of an argument vector, which are exact.
 */
#include <string.h>

#include "base/memory.h"
#include "gres/tres.h"

typedef enum {
    PLAIN,     /* asks for no GPU */
    GPU_LIST,  /* [TYPE:]COUNT[,...] of GPUs */
    GRES_LIST, /* NAME[:TYPE][:COUNT][,...], also gres/NAME */
    WRAP,
    CHDIR, /* where sbatch looks for the script first */
} meaning_t;

typedef struct {
    const char *name;
    char letter;
    meaning_t meaning;
} option_t;

/* The options that take the next word as their value where none is attached:
 * the tables of Slurm 22.05 (slurm_option_table_create() in libslurmfull) and
 * what sbatch(1), srun(1) and salloc(1) of 23.02 to 25.11 add. The options that
 * ask for GPUs come first, so that their array of answers can be small. */
static const option_t with_value[] = {
    {"gpus", 'G', GPU_LIST},
    {"gpus-per-node", 0, GPU_LIST},
    {"gpus-per-socket", 0, GPU_LIST},
    {"gpus-per-task", 0, GPU_LIST},
    {"gres", 0, GRES_LIST},
    {"tres-per-job", 0, GRES_LIST},
    {"tres-per-node", 0, GRES_LIST},
    {"tres-per-socket", 0, GRES_LIST},
    {"tres-per-task", 0, GRES_LIST},
#define GPU_OPTIONS 9
    {"wrap", 0, WRAP},
    {"chdir", 'D', CHDIR},
};

/* Those that ask for nothing; gpu-label and gpu-project are of our plugin. */
static const char plain_with_value[]
    = "accel-bind account acctg-freq array batch bb bbf bcast-exclude begin "
      "cluster cluster-constraint clusters comment constraint container "
      "container-id context core-spec cores-per-socket cpu-bind cpu-freq "
      "cpu_bind cpus-per-gpu cpus-per-task deadline delay-boot dependency "
      "distribution epilog error exclude export export-file extra "
      "extra-node-info gid gpu-bind gpu-freq gpu-label gpu-project "
      "gres-flags het-group hint input job-name jobid kill-on-invalid-dep "
      "licenses mail-type mail-user mcs-label mem mem-bind mem-per-cpu "
      "mem-per-gpu mincpus mpi msg-timeout network nodefile nodelist nodes "
      "ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node "
      "ntasks-per-socket ntasks-per-tres open-mode output pack-group "
      "partition power prefer priority profile prolog qos relative "
      "reservation segment signal slurmd-debug sockets-per-node switches "
      "task-epilog task-prolog tasks-per-node thread-spec threads "
      "threads-per-core time time-min tmp treewidth tres-bind uid "
      "wait-all-nodes wckey";
static const char plain_letters[] = "AabMCScdmexBiJLFwNnopqrTt";

/* srun's --wait=SECONDS and -W SECONDS; sbatch's take no value. */
#define SRUN_WAIT "wait"
#define SRUN_WAIT_LETTER 'W'

/* The options without a value, and those whose value is attached or not there
 * (--exclusive[=user]). Their letters need no list: a letter that is not in
 * with_value takes none. */
static const char without_value[]
    = "async bcast bell compress consolidate-segments contiguous "
      "debugger-test disable-status exact exclusive external get-user-env "
      "help hold ignore-pbs immediate interactive kill-command "
      "kill-on-bad-exit label multi-prog nice no-allocate no-bell no-kill "
      "no-requeue no-shell oom-kill-step overcommit overlap oversubscribe "
      "parsable preserve-env propagate pty quiet quit-on-interrupt reboot "
      "requeue resv-ports send-libs spread-job spread-segments stepmgr "
      "test-only unbuffered usage use-min-nodes verbose version "
      "wait-for-children whole x11";

/* Letters with a value that is attached or not there: -I[SECONDS], -k[off]. */
static const char optional_letters[] = "IKk";

/* Any option that takes a value and asks for nothing. Options of SPANK plugins
 * count as such, for most take a value: a flag that is read so hides the script
 * behind it, and the job counts rather as one whose GPUs are unknown than as
 * one without. */
static const option_t plain = {"", 0, PLAIN};

typedef struct {
    const char *text;
    size_t length;
} word_t;

typedef struct {
    const char *rest; /* NULL: at the end */
    const char *end;
    char separator; /* '\0': the words are exact */
    bool srun;
    bool wrapped;                /* behind the command of --wrap */
    unsigned asked[GPU_OPTIONS]; /* by option: a later one replaces it */
    const char *directory;       /* of --chdir; NULL: not given */
} reader_t;

static bool next_word (reader_t *r, word_t *ret_word)
{
    const char *stop;

    if (!r->rest)
        return false;
    stop = memchr (r->rest, r->separator, (size_t)(r->end - r->rest));
    ret_word->text = r->rest;
    ret_word->length = (size_t)((stop ? stop : r->end) - r->rest);
    r->rest = stop ? stop + 1 : NULL;
    return true;
}

static bool is_word (word_t word, const char *text)
{
    return word.length == strlen (text)
           && memcmp (word.text, text, word.length) == 0;
}

/* "2" or "a100:2" of a list; "a100" is one. */
static bool item_is_zero (const char *item, size_t length)
{
    const char *colon = memrchr (item, ':', length);
    const char *count = colon ? colon + 1 : item;

    return count < item + length
           && strspn (count, "0") >= (size_t)(item + length - count);
}

static unsigned asks_gpu_list (word_t value)
{
    for (size_t i = 0; i < value.length;) {
        const char *item = value.text + i;
        const char *comma = memchr (item, ',', value.length - i);
        size_t length = comma ? (size_t)(comma - item) : value.length - i;
        if (length > 0 && !item_is_zero (item, length))
            return GRES_ASKED_GPU;
        i += length + 1;
    }
    return 0;
}

static const struct {
    const char *name;
    unsigned asked;
} gres_names[] = {
    {"gpu", GRES_ASKED_GPU},
    {"shard", GRES_ASKED_SHARD},
    {"mps", GRES_ASKED_MPS},
};

unsigned gres_name_asked (const char *name, size_t length)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (gres_names); i++) {
        if (strlen (gres_names[i].name) == length
            && memcmp (gres_names[i].name, name, length) == 0)
            return gres_names[i].asked;
    }
    return 0;
}

/* One item of a GRES list: "gpu:a100:2", "gres/gpu=2", "shard". */
static unsigned asks_gres (const char *item, size_t length)
{
    size_t name = 0;
    const char *last;

    if (length > 5 && memcmp (item, "gres", 4) == 0
        && (item[4] == '/' || item[4] == ':')) {
        item += 5;
        length -= 5;
    }
    while (name < length && item[name] != ':' && item[name] != '=')
        name++;
    last = item + length;
    while (last > item + name && last[-1] != ':' && last[-1] != '=')
        last--;
    if (last > item + name
        && item_is_zero (last, (size_t)(item + length - last)))
        return 0;
    return gres_name_asked (item, name);
}

unsigned gres_list_asked (const char *list, size_t length)
{
    unsigned asked = 0;

    for (size_t i = 0; i < length;) {
        const char *comma = memchr (list + i, ',', length - i);
        size_t n = comma ? (size_t)(comma - list) - i : length - i;
        asked |= asks_gres (list + i, n);
        i += n + 1;
    }
    return asked;
}

static bool read_options (reader_t *r, word_t *ret_operand);

/* Behind the first word of a wrapped command: go on where only options follow,
 * else at the end. What stops one attempt stops those that begin before it. */
static void skip_command (reader_t *r)
{
    const char *tried = r->rest;
    word_t word, operand = {NULL, 0};

    while (next_word (r, &word)) {
        reader_t options = {.rest = word.text,
                            .end = r->end,
                            .separator = r->separator,
                            .wrapped = true};
        if (word.length < 2 || word.text[0] != '-' || word.text < tried)
            continue;
        if (!read_options (&options, &operand)) {
            r->rest = word.text;
            break;
        }
        tried = operand.text;
    }
    r->wrapped = true;
}

static void take_value (reader_t *r, const option_t *option, word_t value,
                        bool attached)
{
    switch (option->meaning) {
    case GPU_LIST:
        r->asked[option - with_value] = asks_gpu_list (value);
        break;
    case GRES_LIST:
        r->asked[option - with_value]
            = gres_list_asked (value.text, value.length);
        break;
    case CHDIR:
        r->directory = value.text;
        break;
    case WRAP:
        if (r->separator == '\0')
            break;
        if (attached)
            r->rest = NULL;
        else if (!r->wrapped)
            skip_command (r);
        break;
    case PLAIN:
        break;
    }
}

static bool begins_with (const char *name, size_t length, word_t word)
{
    return length >= word.length && !memcmp (name, word.text, word.length);
}

/* 2: the word is one of the names; 1: one of them begins so; 0. */
static int look_up (const char *names, word_t word)
{
    int found = 0;

    for (size_t length; *names; names += length + (names[length] == ' ')) {
        length = strcspn (names, " ");
        if (!begins_with (names, length, word))
            continue;
        if (length == word.length)
            return 2;
        found = 1;
    }
    return found;
}

/* The option of that name, or the first that begins so, as getopt_long() takes
 * abbreviations. NULL: it takes no value from the next word. */
static const option_t *find_long (const reader_t *r, word_t name)
{
    const option_t *begins = NULL;
    int known;

    if (is_word (name, SRUN_WAIT))
        return r->srun ? &plain : NULL;
    for (size_t i = 0; i < GL_ARRAY_SIZE (with_value); i++) {
        const option_t *option = &with_value[i];
        if (is_word (name, option->name))
            return option;
        if (!begins && begins_with (option->name, strlen (option->name), name))
            begins = option;
    }
    known = look_up (plain_with_value, name);
    if (known == 2)
        return &plain;
    if (known == 1 && !begins)
        begins = &plain;
    known = look_up (without_value, name);
    if (known == 2 || (known == 1 && !begins))
        return NULL;
    return begins ? begins : &plain;
}

/* `word` without its "--". */
static void read_long (reader_t *r, word_t word)
{
    const char *equals = memchr (word.text, '=', word.length);
    word_t name
        = {word.text, equals ? (size_t)(equals - word.text) : word.length};
    const option_t *option = find_long (r, name);
    word_t value;

    if (!option)
        return;
    if (equals) {
        value = (word_t){equals + 1, word.length - name.length - 1};
        take_value (r, option, value, true);
    } else if (next_word (r, &value)) {
        take_value (r, option, value, false);
    }
}

static const option_t *find_letter (const reader_t *r, char letter)
{
    if (letter == SRUN_WAIT_LETTER)
        return r->srun ? &plain : NULL;
    for (size_t i = 0; i < GL_ARRAY_SIZE (with_value); i++) {
        if (with_value[i].letter == letter)
            return &with_value[i];
    }
    return letter && strchr (plain_letters, letter) ? &plain : NULL;
}

/* "-QvN2": letters without a value, then perhaps one with it. */
static void read_letters (reader_t *r, word_t word)
{
    for (size_t i = 0; i < word.length; i++) {
        const option_t *option = find_letter (r, word.text[i]);
        word_t value = {word.text + i + 1, word.length - i - 1};
        if (!option && strchr (optional_letters, word.text[i]))
            return;
        if (!option)
            continue;
        if (value.length > 0 || next_word (r, &value))
            take_value (r, option, value, false);
        return;
    }
}

/* Options up to the first word that is none, which is handed back: a script, a
 * program, ":" or "--". False: the line ends before. */
static bool read_options (reader_t *r, word_t *ret_operand)
{
    word_t word;

    while (next_word (r, &word)) {
        bool dash = word.length > 1 && word.text[0] == '-';
        bool is_long = word.length > 2 && dash && word.text[1] == '-';
        if (is_long)
            read_long (r, (word_t){word.text + 2, word.length - 2});
        else if (dash && !is_word (word, "--"))
            read_letters (r, (word_t){word.text + 1, word.length - 1});
        else if (word.length > 0) {
            *ret_operand = word;
            return true;
        }
    }
    return false;
}

/* The options of one component of a job. True: another one follows. */
static bool read_component (reader_t *r)
{
    word_t word;

    if (read_options (r, &word) && is_word (word, ":"))
        return true;
    /* srun: each component has its program, and " : " follows it */
    while (r->srun && next_word (r, &word)) {
        if (is_word (word, ":"))
            return true;
    }
    return false;
}

/* "/usr/bin/srun", "srun.orig" */
static bool is_srun (word_t command)
{
    const char *slash = memrchr (command.text, '/', command.length);
    const char *name = slash ? slash + 1 : command.text;

    return strncmp (name, "srun", 4) == 0;
}

static unsigned all_asked (const reader_t *r)
{
    unsigned asked = 0;

    for (size_t i = 0; i < GPU_OPTIONS; i++)
        asked |= r->asked[i];
    return asked;
}

unsigned gres_in_submit_line (const char *line)
{
    reader_t r = {.rest = line, .separator = ' '};
    unsigned asked = 0;
    bool more = true;
    word_t command;

    if (!line)
        return 0;
    r.end = line + strlen (line);
    if (!next_word (&r, &command))
        return 0;
    r.srun = is_srun (command);
    while (more) {
        memset (r.asked, 0, sizeof (r.asked));
        more = read_component (&r);
        asked |= all_asked (&r);
    }
    return asked;
}

/* --- argument vectors --- */

/* Behind the name of the program. */
static reader_t begin_words (gres_words_t words)
{
    reader_t r = {0};
    word_t command;

    if (words.size == 0)
        return r;
    r.rest = words.text;
    r.end = words.text + words.size - 1;
    if (next_word (&r, &command))
        r.srun = is_srun (command);
    return r;
}

unsigned gres_in_words (gres_words_t command, size_t component,
                        gres_words_t before)
{
    reader_t r = begin_words (command), defaults = begin_words (before);
    word_t word;

    for (; component > 0; component--) {
        if (!read_component (&r))
            r.rest = NULL;
    }
    read_options (&defaults, &word);
    memcpy (r.asked, defaults.asked, sizeof (r.asked));
    read_component (&r);
    return all_asked (&r);
}

const char *gres_script_of_words (gres_words_t command,
                                  const char **ret_directory)
{
    reader_t r = begin_words (command);
    word_t word;

    while (read_options (&r, &word)) {
        if (is_word (word, ":"))
            continue;
        *ret_directory = r.directory;
        if (is_word (word, "--") && !next_word (&r, &word))
            return NULL;
        return word.text;
    }
    return NULL;
}
