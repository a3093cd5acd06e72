#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/pager.h"

#define PAGER_DEFAULT "less"

/* Ignored while the pager runs: a reader who left it is no error, and ^C stops
 * a search in it, not this program. */
static const int signals[] = {SIGPIPE, SIGINT, SIGQUIT};

struct pager {
    const char *command;
    pid_t pid;
    int fd;
    bool left;
    struct sigaction before[GL_ARRAY_SIZE (signals)];
};

/* --- which ---------------------------------------------------------------- */

static bool is_installed (const char *name)
{
    const char *path = getenv ("PATH");

    for (const char *dir = path, *end; dir; dir = *end ? end + 1 : NULL) {
        end = strchrnul (dir, ':');
        GL_AUTOFREE char *file
            = xasprintf ("%.*s/%s", (int)(end - dir), dir, name);
        if (access (file, X_OK) == 0)
            return true;
    }
    return false;
}

/* NULL: none. */
static const char *pager_command (void)
{
    static const char *const names[] = {"GPULEDGER_PAGER", "PAGER"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (names); i++) {
        const char *command = getenv (names[i]);
        if (command)
            return *command && strcmp (command, "cat") ? command : NULL;
    }
    return is_installed (PAGER_DEFAULT) ? PAGER_DEFAULT : NULL;
}

static bool is_dumb (void)
{
    const char *term = getenv ("TERM");

    return !term || !*term || strcmp (term, "dumb") == 0;
}

/* --- running -------------------------------------------------------------- */

static void __attribute__ ((noreturn)) run (const char *command, int fd)
{
    dup2 (fd, STDIN_FILENO);
    setenv ("LESS", "FRX", 0);
    setenv ("LV", "-c", 0);
    if (getenv ("SUDO_UID") || getenv ("PKEXEC_UID") || getenv ("DOAS_USER"))
        setenv ("LESSSECURE", "1", 1);
    execl ("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit (127);
}

static void ignore_signals (pager_t *pager)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};

    for (size_t i = 0; i < GL_ARRAY_SIZE (signals); i++)
        sigaction (signals[i], &ignore, &pager->before[i]);
}

static void restore_signals (const pager_t *pager, size_t first)
{
    for (size_t i = first; i < GL_ARRAY_SIZE (signals); i++)
        sigaction (signals[i], &pager->before[i], NULL);
}

pager_t *pager_start (cli_t *cli)
{
    const char *command = cli->no_pager || is_dumb () ? NULL : pager_command ();
    int ends[2];
    pager_t *pager;
    pid_t pid;

    if (!command || pipe2 (ends, O_CLOEXEC) < 0)
        return NULL;
    fflush (stdout);
    pid = fork ();
    if (pid == 0)
        run (command, ends[0]);
    close (ends[0]);
    if (pid < 0) {
        close (ends[1]);
        return NULL;
    }
    pager = xcalloc (1, sizeof (*pager));
    *pager = (pager_t){.command = command, .pid = pid, .fd = ends[1]};
    ignore_signals (pager);
    return pager;
}

int pager_write (pager_t *pager, const void *data, size_t length)
{
    if (pager->left || file_write_all (pager->fd, data, length) == 0)
        return 0;
    if (errno != EPIPE)
        return -1;
    pager->left = true;
    restore_signals (pager, 1); /* ^C ends what nobody reads */
    return 0;
}

int pager_end (cli_t *cli, pager_t *pager)
{
    int status = 0, rc = CLI_OK;

    close (pager->fd);
    while (waitpid (pager->pid, &status, 0) < 0 && errno == EINTR)
        ;
    restore_signals (pager, 0);
    if (WIFEXITED (status)
        && (WEXITSTATUS (status) == 126 || WEXITSTATUS (status) == 127))
        rc = cli_failf (cli,
                        "cannot run the pager '%s': set GPULEDGER_PAGER to one "
                        "that is installed, or give --no-pager",
                        pager->command);
    free (pager);
    return rc;
}
