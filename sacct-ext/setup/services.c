#include "setup/services.h"

#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/program.h"

#define UNITS_MAX 16

/* As sd_booted(3). */
static bool systemd_runs (void)
{
    return access ("/run/systemd/system", F_OK) == 0
           && program_exists ("systemctl");
}

/* "enabled", "disabled", "active" ...: the answer, also where it is a failure. */
static bool answers (const char *verb, const char *unit, const char *word)
{
    const char *argv[] = {"systemctl", verb, "--", unit, NULL};
    gl_error_t error = {""};
    GL_AUTOFREE char *output
        = program_run (&(program_t){.argv = argv, .input = -1}, &error);
    const char *text = output ? output : error.text;
    size_t length = strlen (text), wanted = strlen (word);

    while (length && text[length - 1] == '\n')
        length--;
    return length >= wanted && !strncmp (text + length - wanted, word, wanted)
           && (length == wanted || text[length - wanted - 1] == ' ');
}

typedef enum { UNIT_MISSING, UNIT_OFF, UNIT_ON } unit_state_t;

static unit_state_t unit_state (const char *unit)
{
    bool enabled = answers ("is-enabled", unit, "enabled");

    if (!enabled && !answers ("is-enabled", unit, "disabled"))
        return UNIT_MISSING;
    return enabled && answers ("is-active", unit, "active") ? UNIT_ON
                                                            : UNIT_OFF;
}

/* "systemctl enable --now UNIT...", for those that are off; without systemd for all. */
static size_t command_of (const char *const *units, const char **argv)
{
    bool runs = systemd_runs ();
    size_t count = 0, head;

    argv[count++] = "systemctl";
    argv[count++] = "enable";
    argv[count++] = "--now";
    head = count;
    for (; *units; units++)
        if (!runs || unit_state (*units) == UNIT_OFF)
            argv[count++] = *units;
    argv[count] = NULL;
    return count - head;
}

static void add_command (buffer_t *out, const char *const *argv)
{
    for (; *argv; argv++)
        buffer_printf (out, " %s", *argv);
}

setup_state_t services_look (const char *const *units, buffer_t *finding)
{
    const char *argv[UNITS_MAX];

    if (!systemd_runs ())
        return setup_say (finding, SETUP_TO_DO,
                          "systemd does not run on this host");
    if (unit_state (units[0]) == UNIT_MISSING)
        return setup_say (finding, SETUP_WAITING, "%s is not installed",
                          units[0]);
    if (command_of (units, argv) == 0)
        return SETUP_DONE;
    buffer_add_text (finding, "not enabled, or not active:");
    add_command (finding, argv + 3);
    return SETUP_TO_DO;
}

setup_result_t services_enable (changes_t *changes, const char *const *units,
                                buffer_t *finding, gl_error_t *error)
{
    const char *argv[UNITS_MAX];

    command_of (units, argv);
    if (!systemd_runs ()) {
        buffer_add_text (finding, "where it runs, for the packages that are "
                                  "installed:\n$");
        add_command (finding, argv);
        return SETUP_YOURS;
    }
    for (size_t i = 3; argv[i]; i++)
        if (!changes->dry_run)
            made_note (&changes->made, "unit", argv[i], NULL);
    if (!changes->dry_run && made_write (&changes->made, error) < 0)
        return SETUP_FAILED;
    return change_run (changes, argv, NULL, NULL, error) < 0 ? SETUP_FAILED
                                                             : SETUP_MADE;
}

static int disable (changes_t *changes, const char *unit, gl_error_t *error)
{
    const char *argv[] = {"systemctl", "disable", "--now", unit, NULL};

    if (change_run (changes, argv, NULL, NULL, error) < 0)
        return -1;
    return changes->dry_run ? 0 : change_forget (changes, "unit", unit, error);
}

setup_result_t services_disable (changes_t *changes, const char *const *units,
                                 buffer_t *finding, gl_error_t *error)
{
    (void)finding;
    for (; *units; units++)
        if (made_find (&changes->made, "unit", *units)
            && disable (changes, *units, error) < 0)
            return SETUP_FAILED;
    return SETUP_MADE;
}
