#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/program.h"
#include "publish/pdf.h"
#include "render/render.h"

#define WEASYPRINT "weasyprint"
#define MAKE_MS 120000
#define BEGIN "%PDF-"
#define END "%%EOF"

extern char **environ;

/* Ours, with a time for the fonts in a PDF and an order for WeasyPrint's sets. Only the array is
 * the caller's to free. */
static const char **steady_environment (void)
{
    static const char *const more[]
        = {"SOURCE_DATE_EPOCH=0", "PYTHONHASHSEED=0"};
    const char **envp = NULL;
    size_t count = 0;

    for (size_t i = 0; i < GL_ARRAY_SIZE (more); i++)
        *GL_APPEND (envp, count) = more[i];
    for (char **it = environ; *it; it++)
        if (strncmp (*it, more[0], strcspn (more[0], "=") + 1) != 0
            && strncmp (*it, more[1], strcspn (more[1], "=") + 1) != 0)
            *GL_APPEND (envp, count) = *it;
    *GL_APPEND (envp, count) = NULL;
    return envp;
}

int pdf_check (gl_error_t *error)
{
    static const char *const argv[] = {WEASYPRINT, "--version", NULL};
    gl_error_t why;
    char *version = program_run (&(program_t){.argv = argv, .input = -1}, &why);

    free (version);
    return version ? 0
                   : gl_error (error,
                               "cannot make PDFs: %s; install WeasyPrint "
                               "(package weasyprint), or publish without "
                               "--pdf and publish.pdf",
                               why.text);
}

/* As a whole: a program that was ended early may have written a part. */
static bool is_pdf (const char *bytes, size_t length)
{
    return length > strlen (BEGIN) + strlen (END) + 1
           && !memcmp (bytes, BEGIN, strlen (BEGIN))
           && memmem (bytes + length - strlen (END) - 1, strlen (END) + 1, END,
                      strlen (END));
}

static char *run (int input, size_t *ret_length, gl_error_t *error)
{
    static const char *const argv[]
        = {WEASYPRINT, "--quiet", "--encoding", "utf-8", "--base-url",
           "",         "-",       "-",          NULL};
    const char **envp = steady_environment ();
    char *bytes = program_run (&(program_t){.argv = argv,
                                            .envp = envp,
                                            .input = input,
                                            .timeout_ms = MAKE_MS,
                                            .ret_length = ret_length},
                               error);

    free (envp);
    return bytes;
}

int pdf_make (const buffer_t *page, const char *path, buffer_t *out,
              gl_error_t *error)
{
    BUFFER_AUTO html = BUFFER_INIT;
    GL_AUTOFREE char *bytes = NULL;
    gl_error_t why;
    size_t length;
    int input;

    render_paper (buffer_text (page), &html);
    input = program_input (html.data, html.length);
    if (input < 0)
        return gl_error (error, "%s: cannot hold the page: %s", path,
                         strerror (errno));
    bytes = run (input, &length, &why);
    close (input);
    if (!bytes)
        return gl_error (error, "cannot make %s: %s", path, why.text);
    if (!is_pdf (bytes, length))
        return gl_error (error, "cannot make %s: " WEASYPRINT " wrote no PDF",
                         path);
    buffer_add (out, bytes, length);
    return 0;
}
