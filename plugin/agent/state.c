#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "record/crc32c.h"
#include "record/directory.h"

#include "state.h"

#define HEAD "gpuledger-agent-state 1\n"
#define TAIL_SIZE 13 /* "end 0123abcd\n" */
/* 512 devices with 256 jobs each do not come near. */
#define STATE_MAX (64 << 20)
/* A program that the last agent started keeps its lock until it executes; of an agent that
 * was killed then, this is a moment after its end. */
#define LOCK_TRIES 20
#define LOCK_PAUSE_NS 50000000

int state_prepare (const char *spool, gl_error_t *error)
{
    int fd = directory_open_state (spool, true, error);

    if (fd >= 0)
        close (fd);
    return fd < 0 ? -1 : 0;
}

static int take_lock (int fd)
{
    static const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};

    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock (fd, LOCK_EX | LOCK_NB) == 0)
            return 0;
        nanosleep (&pause, NULL);
    }
    return -1;
}

int state_lock (const char *spool, gl_error_t *error)
{
    int at = directory_open_state (spool, false, error), fd;

    if (at < 0)
        return -1;
    fd = openat (at, "agent.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                 0600);
    close (at);
    if (fd < 0)
        return gl_error (error, "%s/state/agent.lock: %s", spool,
                         strerror (errno));
    if (take_lock (fd) == 0)
        return fd;
    close (fd);
    return gl_error (error, "another gpuledger-agent runs on %s", spool);
}

/* Always synced: some file systems rename an empty file otherwise. */
static int replace (int at, const buffer_t *text, bool durable)
{
    const file_target_t file = {
        .at = at,
        .name = "agent",
        .mode = 0600,
        .sync = durable ? FILE_DURABLE : FILE_WHOLE,
    };
    file_draft_t *draft = file_draft_open (&file);
    char tail[TAIL_SIZE + 1];

    if (!draft)
        return -1;
    snprintf (tail, sizeof (tail), "end %08" PRIx32 "\n",
              crc32c (text->data, text->length));
    file_draft_write (draft, HEAD, strlen (HEAD));
    file_draft_write (draft, text->data, text->length);
    file_draft_write (draft, tail, TAIL_SIZE);
    return file_draft_close (draft, true);
}

int state_save (const char *spool, const buffer_t *text, bool durable,
                gl_error_t *error)
{
    int at = directory_open_state (spool, false, error), rc;

    if (at < 0)
        return -1;
    rc = replace (at, text, durable);
    if (rc < 0)
        gl_error (error, "%s/state/agent: %s", spool, strerror (errno));
    close (at);
    return rc;
}

/* Cuts the first and the last line off a whole text. */
static bool check_text (buffer_t *text)
{
    size_t head = strlen (HEAD);
    uint32_t sum;

    if (text->length < head + TAIL_SIZE || strncmp (text->data, HEAD, head) != 0
        || sscanf (text->data + text->length - TAIL_SIZE, "end %8" SCNx32, &sum)
               != 1)
        return false;
    text->length -= head + TAIL_SIZE;
    memmove (text->data, text->data + head, text->length);
    text->data[text->length] = '\0';
    return crc32c (text->data, text->length) == sum;
}

int state_load (const char *spool, buffer_t *ret_text, gl_error_t *error)
{
    int at = directory_open_state (spool, false, error);

    if (at < 0)
        return -1;
    *ret_text = (buffer_t)BUFFER_INIT;
    ret_text->data
        = file_read (at, "agent", "agent", STATE_MAX, &ret_text->length, NULL);
    close (at);
    if (!ret_text->data && errno == ENOENT)
        return 0;
    if (!ret_text->data)
        return gl_error (error, "%s/state/agent: %s", spool, strerror (errno));
    if (check_text (ret_text))
        return 1;
    buffer_done (ret_text);
    return gl_error (error,
                     "%s/state/agent is damaged: sums since its last interval "
                     "are lost",
                     spool);
}
