/*
 * grammar: host lists and times, read by Slurm's own library and by ours.
 *
 *     grammar [COUNT [SEED]]      GL_LIBSLURM=PATH: of another release
 *
 * Thousands of seeded texts, well formed and damaged. What both take must mean
 * the same; what only one of them takes must be of a kind that is listed here.
 * `scontrol show hostnames` and `sacct -S` are these functions and a loop.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/timespec.h"
#include "gres/nodelist.h"

static void *(*hostlist_create) (const char *text);
static char *(*hostlist_shift) (void *list);
static void (*hostlist_destroy) (void *list);
static time_t (*parse_time) (const char *text, int past);

/* It forgets what it has read of a list that it then refuses. */
const char *__lsan_default_suppressions (void);
const char *__lsan_default_suppressions (void)
{
    return "leak:libslurm";
}

/* What Slurm's library takes for the clock. */
static time_t fake_now;
time_t time (time_t *ret)
{
    if (ret)
        *ret = fake_now;
    return fake_now;
}

/* Random numbers, the same everywhere. */

static uint64_t seed;

static uint32_t below (uint32_t limit)
{
    seed = seed * UINT64_C (6364136223846793005)
           + UINT64_C (1442695040888963407);
    return (uint32_t)((seed >> 33) % limit);
}

#define ONE_OF(array) ((array)[below (GL_ARRAY_SIZE (array))])

/* A byte more, less, or another. */
static void damage (buffer_t *text)
{
    static const char bytes[] = "[]-,0123456789/:.Tnapm +";
    size_t at = text->length ? below ((uint32_t)text->length) : 0;
    char byte = bytes[below (sizeof (bytes) - 1)];
    GL_AUTOFREE char *old = xstrdup (buffer_text (text));

    buffer_clear (text);
    buffer_add (text, old, at);
    switch (below (3)) {
    case 0:
        buffer_add_char (text, byte);
        buffer_add_text (text, old + at);
        break;
    case 1:
        buffer_add_char (text, byte);
        /* fall through */
    default:
        buffer_add_text (text, old[at] ? old + at + 1 : "");
    }
}

/* Host lists */

static void add_number (buffer_t *text, uint32_t number)
{
    buffer_printf (text, "%0*u", (int)below (4), number);
}

static void add_bracket (buffer_t *text)
{
    unsigned ranges = 1 + below (3);

    buffer_add_char (text, '[');
    for (unsigned i = 0; i < ranges; i++) {
        uint32_t low = below (below (8) ? 130 : 70000), span = below (12);
        if (i)
            buffer_add_char (text, ',');
        add_number (text, low);
        if (below (2)) {
            buffer_add_char (text, '-');
            add_number (text, low + span);
        }
    }
    buffer_add_char (text, ']');
}

static void add_host (buffer_t *text)
{
    static const char *const parts[]
        = {"n", "gpu", "r", "cpn-f13-", "node-a.", "x0", "rack7n", "a1b", ""};
    unsigned brackets = below (8) ? below (3) : below (5);

    buffer_add_text (text, ONE_OF (parts));
    for (unsigned i = 0; i < brackets; i++) {
        add_bracket (text);
        /* a name does not end behind a bracket for Slurm, unless at once */
        if (i + 1 < brackets && below (2))
            buffer_add_text (text, ONE_OF (parts));
    }
    if (!brackets)
        add_number (text, below (2000));
}

static void make_list (buffer_t *text)
{
    unsigned hosts = 1 + below (4);

    for (unsigned i = 0; i < hosts; i++) {
        if (i)
            buffer_add_char (text, ',');
        add_host (text);
    }
}

struct tally {
    unsigned long both, neither, ours, theirs, wrong;
};

/* All names of a list, one a line. Slurm gives NULL for what it refuses, and
 * for some of it an empty list. */
static bool their_names (const char *list, buffer_t *names)
{
    void *hosts = hostlist_create (list);
    char *name;

    if (!hosts)
        return false;
    while ((name = hostlist_shift (hosts))) {
        buffer_printf (names, "%s\n", name);
        free (name);
    }
    hostlist_destroy (hosts);
    return names->length > 0;
}

static bool our_names (const char *text, buffer_t *names)
{
    nodelist_t *list = nodelist_open (text, NULL);
    const char *name;

    if (!list)
        return false;
    while ((name = nodelist_next (list)))
        buffer_printf (names, "%s\n", name);
    nodelist_close (list);
    return names->length > 0;
}

static void show (const char *what, const char *text)
{
    printf ("# %s: %s\n", what, text);
}

/* Slurm's library makes each name as it reads, however many there are. */
static bool is_small (const char *text)
{
    nodelist_t *list = nodelist_open (text, NULL);
    bool small = !list || nodelist_count (list) <= 5000;

    nodelist_close (list);
    for (; small && *text; text++) {
        char *end;
        unsigned long low = strtoul (text, &end, 10), high;

        if (end == text || *text == '-' || *text == '+')
            continue;
        high = *end == '-' ? strtoul (end + 1, &end, 10) : low;
        small = high < 100000 && (high < low || high - low < 500);
        text = end - 1;
    }
    return small;
}

static void compare_list (const char *text, bool damaged, struct tally *tally)
{
    BUFFER_AUTO ours = BUFFER_INIT;
    BUFFER_AUTO theirs = BUFFER_INIT;
    bool we = our_names (text, &ours), they = their_names (text, &theirs);

    if (we && they
        && strcmp (buffer_text (&ours), buffer_text (&theirs)) != 0) {
        show ("differs", text);
        tally->wrong++;
    } else if (!damaged && they != we) {
        show (we ? "only we take" : "only Slurm takes", text);
        tally->wrong++;
    }
    tally->both += we && they;
    tally->neither += !we && !they;
    tally->ours += we && !they;
    tally->theirs += they && !we;
}

/* Times */

static const char *const zones[] = {
    "UTC",         "America/New_York", "Asia/Kolkata",   "Australia/Lord_Howe",
    "Europe/Oslo", "America/St_Johns", "Asia/Kathmandu", "Pacific/Chatham"};

/* Grammar that only we have, or that only Slurm has. */
enum { COMMON = 0, OURS = 1, THEIRS = 2 };

/* A word of newer releases. */
static bool elevenses;

static int add_clock (buffer_t *text)
{
    static const char *const clocks[]
        = {"midnight", "noon", "elevenses", "fika", "teatime"};
    static const char *const halves[] = {"am", " PM", "pm", " am"};
    unsigned hour = below (24);

    if (!below (5)) {
        const char *word = ONE_OF (clocks);
        buffer_add_text (text, word);
        return elevenses || strcmp (word, "elevenses") != 0 ? COMMON : OURS;
    }
    buffer_printf (text, below (2) ? "%u:%02u" : "%02u:%02u", hour, below (60));
    if (below (2))
        buffer_printf (text, ":%02u", below (60));
    if (hour < 12 && !below (3))
        buffer_add_text (text, ONE_OF (halves));
    return COMMON;
}

static int add_day (buffer_t *text)
{
    static const char *const separators[] = {"/", ".", ""};
    const char *separator = ONE_OF (separators);
    unsigned month = 1 + below (12), day = 1 + below (28);
    bool bare = *separator && below (2);
    int kind = COMMON;

    switch (below (6)) {
    case 0:
        buffer_add_text (text, "today");
        return COMMON;
    case 1:
        buffer_add_text (text, "tomorrow");
        return COMMON;
    case 2:
        buffer_printf (text, "%u-%02u-%02u", 1971 + below (128), month, day);
        return COMMON;
    default:
        break;
    }
    buffer_printf (text, bare ? "%u" : "%02u", month);
    buffer_add_text (text, separator);
    buffer_printf (text, bare ? "%u" : "%02u", day);
    switch (below (3)) {
    case 0:
        kind = OURS;
        buffer_printf (text, "%s%u", separator, 1971 + below (128));
        return *separator ? kind : THEIRS | OURS;
    case 1:
        buffer_printf (text, "%s%02u", separator, 1 + below (98));
    }
    return kind;
}

static int add_distance (buffer_t *text)
{
    static const char *const starts[]
        = {"today", "tomorrow", "midnight", "noon", "teatime"};
    static const char *const units[]
        = {"",     "seconds", "second", "minutes", "minute", "hours",
           "hour", "days",    "day",    "weeks",   "week"};
    static const char *const short_units[] = {"s", "min", "h", "d", "w"};
    bool now = below (4) > 0, short_unit = !below (4);

    buffer_add_text (text, now ? "now" : ONE_OF (starts));
    buffer_printf (text, "%c%u", below (2) ? '-' : '+', below (200));
    buffer_add_text (text, short_unit ? ONE_OF (short_units)
                           : now      ? ONE_OF (units)
                                      : "minutes");
    return now && !short_unit ? COMMON : OURS;
}

static int add_both (buffer_t *text)
{
    static const char *const between[] = {" ", "-", "T"};
    const char *separator = ONE_OF (between);
    bool day_first = below (2);
    int kind = day_first ? add_day (text) : add_clock (text);
    /* DATE-HH:MM is refused */
    bool iso = day_first && text->length == 10 && text->data[4] == '-';

    buffer_add_text (text, separator);
    kind |= day_first ? add_clock (text) : add_day (text);
    return kind | (iso && *separator == '-' ? THEIRS : COMMON);
}

static int make_time (buffer_t *text)
{
    switch (below (8)) {
    case 0:
        buffer_add_text (text, "now");
        return COMMON;
    case 1:
        return add_day (text);
    case 2:
        return add_clock (text);
    case 3:
    case 4:
        return add_distance (text);
    case 5:
        buffer_printf (text, "uts%u", 1000000 + below (2000000000));
        return COMMON;
    default:
        return add_both (text);
    }
}

/* Within two days of a moment at which the zone's clocks are put. */
static bool near_switch (const zone_t *zone, int64_t instant)
{
    int64_t from = instant - 2 * 86400, to = instant + 2 * 86400;

    return zone_offset (zone, from < 0 ? 0 : from)
               != zone_offset (zone, instant)
           || zone_offset (zone, to) != zone_offset (zone, instant);
}

/* Where a clock is put, mktime() may answer with the other side; and Slurm's
 * tomorrow is 24 hours later. */
static bool may_differ (const zone_t *zone, const char *text, int64_t ours,
                        int64_t theirs)
{
    int64_t apart = ours > theirs ? ours - theirs : theirs - ours;

    return (near_switch (zone, ours) && apart <= 3600)
           || (near_switch (zone, fake_now) && strstr (text, "tomorrow"));
}

static void compare_time (const zone_t *zone, const char *text, int kind,
                          bool damaged, struct tally *tally)
{
    int64_t ours = 0;
    bool we = timespec_parse (text, zone, fake_now, &ours, NULL) == 0;
    int64_t theirs = parse_time (text, 1);
    bool they = theirs > 0;

    tally->both += we && they;
    tally->neither += !we && !they;
    tally->ours += we && !they;
    tally->theirs += they && !we;
    if (we && they && ours != theirs
        && !may_differ (zone, text, ours, theirs)) {
        printf ("# differs in %s at %lld: %s: %lld, Slurm: %lld\n",
                zone_name (zone), (long long)fake_now, text, (long long)ours,
                (long long)theirs);
        tally->wrong++;
    } else if (!damaged && we && !they && !(kind & OURS)) {
        show ("only we take", text);
        tally->wrong++;
    } else if (!damaged && they && !we && !(kind & THEIRS)) {
        show ("only Slurm takes", text);
        tally->wrong++;
    }
}

/* Damaged times that both take and that mean something else: Slurm reads on
 * where it can, "10/05/2024" as 10/05/20 and 24. */
static void compare_times (const char *name, unsigned long count,
                           struct tally *tally)
{
    zone_t *zone;

    setenv ("TZ", name, 1);
    tzset ();
    zone = zone_open (name, NULL);
    if (!zone) {
        printf ("Bail out! no zone %s\n", name);
        exit (1);
    }
    for (unsigned long i = 0; i < count; i++) {
        BUFFER_AUTO text = BUFFER_INIT;
        int kind = make_time (&text);
        bool damaged = !below (5);

        fake_now = 1600000000 + (time_t)below (400000000);
        if (damaged)
            damage (&text);
        compare_time (zone, buffer_text (&text), kind, damaged, tally);
    }
    zone_close (zone);
}

/* TAP */

static int number;
static int failures;

static void result (const struct tally *tally, const char *name)
{
    bool good = tally->wrong == 0 && tally->both > 0 && tally->neither > 0;

    printf ("# %s: both took %lu, neither %lu, only we %lu, only Slurm %lu\n",
            name, tally->both, tally->neither, tally->ours, tally->theirs);
    printf ("%s %d - %s\n", good ? "ok" : "not ok", ++number, name);
    failures += !good;
}

static void *open_library (void)
{
    const char *path = getenv ("GL_LIBSLURM");
    void *library = path ? dlopen (path, RTLD_NOW) : NULL;

    for (int i = 36; !path && !library && i < 60; i++) {
        GL_AUTOFREE char *name = xasprintf ("libslurm.so.%d", i);
        library = dlopen (name, RTLD_NOW);
    }
    return library;
}

/* ISO C knows no conversion between pointers to data and to functions. */
static void find (void *library, const char *name, void *ret_function)
{
    void *symbol = dlsym (library, name);

    if (!symbol) {
        printf ("1..0 # SKIP because libslurm has no %s\n", name);
        exit (0);
    }
    memcpy (ret_function, &symbol, sizeof (symbol));
}

static void find_all (void *library)
{
    find (library, "slurm_hostlist_create", &hostlist_create);
    find (library, "slurm_hostlist_shift", &hostlist_shift);
    find (library, "slurm_hostlist_destroy", &hostlist_destroy);
    find (library, "slurm_parse_time", &parse_time);
}

static void check_clock (void)
{
    fake_now = 1792063230;
    if (parse_time ("now", 1) != fake_now) {
        printf ("1..0 # SKIP because libslurm does not take our clock\n");
        exit (0);
    }
}

int main (int argc, char **argv)
{
    unsigned long count = argc > 1 ? strtoul (argv[1], NULL, 10) : 4000;
    struct tally lists = {0}, times = {0};
    void *library = open_library ();

    seed = argc > 2 ? strtoull (argv[2], NULL, 10) : 1;
    if (!library) {
        printf ("1..0 # SKIP because Slurm's library is not installed\n");
        return 0;
    }
    find_all (library);
    /* it tells a person about each text that it refuses */
    if (!getenv ("GL_GRAMMAR_SAY"))
        dup2 (open ("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    check_clock ();
    elevenses = parse_time ("elevenses", 1) > 0;
    for (unsigned long i = 0; i < count; i++) {
        BUFFER_AUTO text = BUFFER_INIT;
        bool damaged = !below (5);

        make_list (&text);
        if (damaged)
            damage (&text);
        if (is_small (buffer_text (&text)))
            compare_list (buffer_text (&text), damaged, &lists);
    }
    result (&lists, "host lists");
    for (size_t i = 0; i < GL_ARRAY_SIZE (zones); i++)
        compare_times (zones[i], count / 4, &times);
    result (&times, "times");
    printf ("1..%d\n", number);
    return failures > 0;
}
