/* lists.c: any text in the grammars of Slurm: host lists, TRES, GRES. Names
 * that come out are in the list; what is canonical stays as it is. */
#include "base/error.h"
#include "fuzz/fuzz.h"
#include "gres/nodelist.h"
#include "gres/tres.h"

#define NAMES 200

static void check_nodelist (const char *text)
{
    gl_error_t error = {0};
    nodelist_t *list = nodelist_open (text, &error);
    const char *name = NULL;
    uint64_t count = 0;

    REQUIRE (list || error.text[0]);
    if (!list)
        return;
    while (count < NAMES && (name = nodelist_next (list))) {
        REQUIRE (name[0] && strlen (name) <= NODELIST_NAME_MAX);
        REQUIRE (nodelist_contains (list, name));
        count++;
    }
    REQUIRE (nodelist_count (list) <= NODELIST_MAX);
    REQUIRE (name ? count <= nodelist_count (list)
                  : count == nodelist_count (list));
    nodelist_close (list);
}

static bool resolve (uint64_t id, const char **ret_type, const char **ret_name,
                     void *arg)
{
    (void)arg;
    *ret_type = "gres";
    *ret_name = id == 1001 ? "gpu" : "gpu:a100";
    return id == 1001 || id == 1002;
}

static uint64_t check_items (const char *gres)
{
    const char *cursor = gres;
    uint64_t sum = 0;
    gres_item_t item;

    while (gres_next (&cursor, &item)) {
        REQUIRE (item.name >= gres && item.name_length > 0);
        REQUIRE (item.count <= GRES_COUNT_MAX);
        sum += item.count;
    }
    REQUIRE (*cursor == '\0');
    REQUIRE (gres_any (gres) == (sum > 0));
    return sum;
}

/* The canonical text, as TRES once more, is itself. */
static void check_canonical (const char *gres)
{
    char *copy = calloc (6 * strlen (gres) + 6, 1), *to = copy;
    tres_t again = TRES_INIT;

    REQUIRE (copy);
    for (const char *from = gres; *from; from++) {
        if (from == gres || from[-1] == ',')
            to = stpcpy (to, "gres/");
        *to++ = *from;
    }
    REQUIRE (tres_parse (&again, copy, NULL, NULL, NULL) == 0);
    REQUIRE (strcmp (again.gres, gres) == 0);
    tres_done (&again);
    free (copy);
}

static void check_tres (const char *text)
{
    gl_error_t error = {0};
    tres_t tres = TRES_INIT;
    bool contradiction = false;

    if (tres_parse (&tres, text, resolve, NULL, &error) == 0) {
        check_items (tres.gres);
        gres_devices (tres.gres, NULL, NULL, &contradiction);
        check_canonical (tres.gres);
    } else {
        REQUIRE (error.text[0]);
    }
    tres_done (&tres);
}

static void check_gres (const char *text)
{
    gl_error_t error = {0};
    tres_t tres = TRES_INIT;

    tres_begin (&tres);
    if (tres_add_gres (&tres, text, &error) == 0) {
        tres_end (&tres);
        check_items (tres.gres);
    } else {
        REQUIRE (error.text[0]);
    }
    tres_done (&tres);
    gres_in_submit_line (text);
}

/* The input, with its NULs, as an argument vector. */
static void check_words (const char *text, size_t size)
{
    gres_words_t words = {text, size + 1}, before = {text, strlen (text) + 1};
    const char *directory = NULL;

    for (size_t component = 0; component < 3; component++)
        gres_in_words (words, component, before);
    gres_script_of_words (words, &directory);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    char *text = calloc (size + 1, 1);

    REQUIRE (text);
    if (size > 0)
        memcpy (text, data, size);
    check_nodelist (text);
    check_tres (text);
    check_gres (text);
    check_words (text, size);
    free (text);
    return 0;
}
