#include "setup/made.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"

#define MADE_MAX (1 << 20)

static void row_done (made_row_t *row)
{
    free (row->kind);
    free (row->digest);
    free (row->name);
}

void made_done (made_t *made)
{
    GL_FREE_EACH (made->row, made->count, row, row_done (row));
    *made = (made_t){0};
}

const made_row_t *made_find (const made_t *made, const char *kind,
                             const char *name)
{
    return GL_FIND (made->row, made->count, it,
                    !strcmp (it->kind, kind) && !strcmp (it->name, name));
}

void made_forget (made_t *made, const char *kind, const char *name)
{
    const made_row_t *row = made_find (made, kind, name);
    size_t at;

    if (!row)
        return;
    at = (size_t)(row - made->row);
    row_done (&made->row[at]);
    memmove (&made->row[at], &made->row[at + 1],
             (made->count - at - 1) * sizeof (*made->row));
    made->count--;
}

void made_note (made_t *made, const char *kind, const char *name,
                const char *digest)
{
    made_forget (made, kind, name);
    *GL_APPEND (made->row, made->count)
        = (made_row_t){.kind = xstrdup (kind),
                       .digest = xstrdup (digest ? digest : "-"),
                       .name = xstrdup (name)};
}

void made_digest (const char *text, size_t length,
                  char ret_digest[MADE_DIGEST_SIZE])
{
    unsigned char bytes[EVP_MAX_MD_SIZE] = {0};

    EVP_Digest (text, length, bytes, NULL, EVP_sha256 (), NULL);
    for (size_t i = 0; i < (MADE_DIGEST_SIZE - 1) / 2; i++)
        snprintf (ret_digest + 2 * i, 3, "%02x", bytes[i]);
}

/* --- the file ------------------------------------------------------------ */

static int read_line (made_t *made, char *line, int number, gl_error_t *error)
{
    char *rest, *kind = strtok_r (line, " ", &rest);
    char *digest = kind ? strtok_r (NULL, " ", &rest) : NULL;

    if (!kind || *kind == '#')
        return 0;
    if (!digest || !*rest)
        return gl_error (error,
                         MADE_FILE ":%d: not a line 'KIND DIGEST NAME'; remove "
                                   "the line if you have changed it",
                         number);
    made_note (made, kind, rest, digest);
    return 0;
}

int made_read (made_t *ret_made, gl_error_t *error)
{
    size_t size;
    GL_AUTOFREE char *text
        = file_read (AT_FDCWD, MADE_FILE, MADE_FILE, MADE_MAX, &size, error);
    char *rest = text, *line;
    int number = 0, rc = 0;

    *ret_made = (made_t){0};
    if (!text)
        return errno == ENOENT ? 0 : -1;
    while (rc == 0 && (line = strsep (&rest, "\n")))
        rc = read_line (ret_made, line, ++number, error);
    return rc;
}

int made_write (const made_t *made, gl_error_t *error)
{
    file_target_t target
        = {.at = AT_FDCWD, .name = MADE_FILE, .mode = 0644, .sync = FILE_WHOLE};
    BUFFER_AUTO text = BUFFER_INIT;

    if (made->count == 0)
        return unlink (MADE_FILE) == 0 || errno == ENOENT
                   ? 0
                   : gl_error (error, MADE_FILE ": %s", strerror (errno));
    if (mkdir (SYSCONFDIR "/gpuledger", 0755) < 0 && errno != EEXIST)
        return gl_error (error, SYSCONFDIR "/gpuledger: %s", strerror (errno));
    buffer_add_text (&text, "# What gpuledger setup has made on this host; "
                            "gpuledger setup --remove removes it.\n");
    for (size_t i = 0; i < made->count; i++)
        buffer_printf (&text, "%s %s %s\n", made->row[i].kind,
                       made->row[i].digest, made->row[i].name);
    return file_replace (&target, MADE_FILE, text.data, text.length, error);
}
