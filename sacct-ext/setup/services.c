#include "setup/services.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/program.h"

#define UNITS_MAX 16

/* As sd_booted(3); in an image systemctl works with the files alone. */
static bool systemctl_works (const changes_t *changes)
{
    return (changes->image || access ("/run/systemd/system", F_OK) == 0)
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

static unit_state_t unit_state (const changes_t *changes, const char *unit)
{
    bool enabled = answers ("is-enabled", unit, "enabled");

    if (!enabled && !answers ("is-enabled", unit, "disabled"))
        return UNIT_MISSING;
    return enabled && (changes->image || answers ("is-active", unit, "active"))
               ? UNIT_ON
               : UNIT_OFF;
}

/* Those that are off; without systemctl all. */
static size_t units_off (const changes_t *changes, const char *const *units,
                         const char **ret_off)
{
    bool works = systemctl_works (changes);
    size_t count = 0;

    for (; *units; units++)
        if (!works || unit_state (changes, *units) == UNIT_OFF)
            ret_off[count++] = *units;
    ret_off[count] = NULL;
    return count;
}

/* "systemctl VERB UNIT..." or "systemctl VERB --now UNIT...". */
static void command_of (const changes_t *changes, const char *verb,
                        const char *const *units, const char **argv)
{
    *argv++ = "systemctl";
    *argv++ = verb;
    if (!changes->image)
        *argv++ = "--now";
    while ((*argv++ = *units++))
        ;
}

static void add_command (buffer_t *out, const char *const *argv)
{
    for (; *argv; argv++)
        buffer_printf (out, " %s", *argv);
}

setup_state_t services_look (const changes_t *changes, const char *const *units,
                             buffer_t *finding)
{
    const char *off[UNITS_MAX];

    if (!systemctl_works (changes))
        return buffer_say (finding, SETUP_TO_DO,
                           changes->image
                               ? "there is no systemctl in this image"
                               : "systemd does not run on this host");
    if (unit_state (changes, units[0]) == UNIT_MISSING)
        return buffer_say (finding, SETUP_WAITING, "%s is not installed",
                           units[0]);
    if (units_off (changes, units, off) == 0)
        return SETUP_DONE;
    buffer_add_text (finding, changes->image ? "not enabled:"
                                             : "not enabled, or not active:");
    add_command (finding, off);
    return SETUP_TO_DO;
}

static int note_units (changes_t *changes, const char *const *units,
                       gl_error_t *error)
{
    if (changes->dry_run)
        return 0;
    for (; *units; units++)
        made_note (&changes->made, "unit", *units, NULL);
    return made_write (&changes->made, error);
}

setup_result_t services_enable (changes_t *changes, const char *const *units,
                                buffer_t *finding, gl_error_t *error)
{
    const char *off[UNITS_MAX], *argv[UNITS_MAX + 4];

    units_off (changes, units, off);
    command_of (changes, "enable", off, argv);
    if (!systemctl_works (changes)) {
        buffer_add_text (finding, "where it runs, for the packages that are "
                                  "installed:\n$");
        add_command (finding, argv);
        return SETUP_YOURS;
    }
    return note_units (changes, off, error) < 0
                   || change_run (changes, argv, NULL, NULL, error) < 0
               ? SETUP_FAILED
               : SETUP_MADE;
}

static int disable (changes_t *changes, const char *unit, gl_error_t *error)
{
    const char *units[] = {unit, NULL}, *argv[5];

    command_of (changes, "disable", units, argv);
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

pid_t services_process (const changes_t *changes, const char *unit)
{
    const char *argv[]
        = {"systemctl", "show", "--property=MainPID", "--value", unit, NULL};
    gl_error_t error;

    if (changes->image || !systemctl_works (changes))
        return 0;
    GL_AUTOFREE char *output
        = program_run (&(program_t){.argv = argv, .input = -1}, &error);
    return output ? (pid_t)strtol (output, NULL, 10) : 0;
}
