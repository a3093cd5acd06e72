#include "mail/deliver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/address.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/program.h"
#include "mail/message.h"

/* A mail server that greets slowly has its reasons. */
#define SENDMAIL_MS (120 * 1000)
/* Of what a program says, nobody reads more. */
#define SENDMAIL_OUTPUT_MAX (1 << 20)

/* --- a mail program ------------------------------------------------------ */

/* -1: the text is no address. */
static int add_address (text_list_t *list, const char *text, gl_error_t *error)
{
    address_t address;

    if (address_parse (text, &address, error) < 0)
        return -1;
    texts_add (list, address.address);
    address_clear (&address);
    return 0;
}

static int make_arguments (const text_list_t *command, const char *sender,
                           const text_list_t *recipients, text_list_t *argv,
                           gl_error_t *error)
{
    for (size_t i = 0; i < command->count; i++)
        texts_add (argv, command->item[i]);
    texts_add (argv, "-i");
    texts_add (argv, "-f");
    if (add_address (argv, sender, error) < 0)
        return -1;
    texts_add (argv, "--");
    for (size_t i = 0; i < recipients->count; i++)
        if (add_address (argv, recipients->item[i], error) < 0)
            return -1;
    return 0;
}

static int run (const text_list_t *list, int input, gl_error_t *error)
{
    const char **argv = xcalloc (list->count + 1, sizeof (*argv));
    program_t program = {.argv = argv,
                         .input = input,
                         .timeout_ms = SENDMAIL_MS,
                         .output_max = SENDMAIL_OUTPUT_MAX};
    char *said;

    for (size_t i = 0; i < list->count; i++)
        argv[i] = list->item[i];
    said = program_run (&program, error);
    free (argv);
    free (said);
    return said ? 0 : -1;
}

int deliver_sendmail (const text_list_t *command, const char *sender,
                      const text_list_t *recipients, const buffer_t *message,
                      gl_error_t *error)
{
    text_list_t argv = {.count = 0};
    int fd, rc = make_arguments (command, sender, recipients, &argv, error);

    if (rc == 0 && (fd = program_input (message->data, message->length)) < 0)
        rc = gl_error (error, "cannot hold the message: %s", strerror (errno));
    else if (rc == 0) {
        rc = run (&argv, fd, error);
        close (fd);
    }
    texts_clear (&argv);
    return rc;
}

/* --- a file -------------------------------------------------------------- */

static int lock_file (int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int rc;

    while ((rc = fcntl (fd, F_SETLKW, &lock)) < 0 && errno == EINTR)
        ;
    return rc;
}

/* What a run that was killed has left ends before the next message begins. */
static void add_gap (int fd, off_t size, buffer_t *out)
{
    char end[2] = "\n\n";

    if (size > 0 && pread (fd, end, 2, size > 2 ? size - 2 : 0) < 0)
        return;
    if (end[1] != '\n')
        buffer_add_text (out, "\n\n");
    else if (end[0] != '\n')
        buffer_add_char (out, '\n');
}

static int append (int fd, const buffer_t *text)
{
    BUFFER_AUTO all = BUFFER_INIT;
    struct stat status;
    int failure;

    if (fstat (fd, &status) < 0)
        return -1;
    if (S_ISREG (status.st_mode)) {
        if (lock_file (fd) < 0 || fstat (fd, &status) < 0)
            return -1;
        add_gap (fd, status.st_size, &all);
    }
    buffer_add (&all, text->data, text->length);
    if (file_write_all (fd, all.data, all.length) == 0
        && (!S_ISREG (status.st_mode) || fdatasync (fd) == 0))
        return 0;
    failure = errno;
    if (S_ISREG (status.st_mode) && ftruncate (fd, status.st_size) < 0)
        errno = failure; /* the rest stays, and the next message keeps apart */
    errno = failure;
    return -1;
}

int deliver_mbox (const char *path, int64_t date, const buffer_t *message,
                  gl_error_t *error)
{
    BUFFER_AUTO text = BUFFER_INIT;
    int fd, rc;

    message_write_mbox (date, message->data, message->length, &text);
    if (!strcmp (path, "-"))
        return fwrite (text.data, 1, text.length, stdout) == text.length
                       && fflush (stdout) == 0
                   ? 0
                   : gl_error (error, "cannot write the output: %s",
                               strerror (errno));
    fd = open (path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    rc = fd < 0 ? -1 : append (fd, &text);
    if (rc < 0)
        gl_error (error, "cannot write %s: %s", path, strerror (errno));
    if (fd >= 0)
        close (fd);
    return rc;
}
