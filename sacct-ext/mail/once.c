#include "mail/once.h"

#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/memory.h"
#include "mail/outbox.h"
#include "store/store.h"

struct once {
    cli_t *cli;
    char *kind;
    char *who;
    store_mail_t *had; /* all mail of the store */
    size_t had_count;
    store_mail_t *new;
    size_t new_count;
    uint64_t *forgotten; /* ids */
    size_t forgotten_count;
};

once_t *once_open (cli_t *cli, const char *kind)
{
    store_t *store = cli_site (cli) ? cli_store (cli, 0) : NULL;
    once_t *once;
    gl_error_t error;

    if (!store)
        return NULL;
    once = xcalloc (1, sizeof (*once));
    once->cli = cli;
    once->kind = xstrdup (kind);
    once->who = mail_who ();
    if (store_mails (store, NULL, NULL, &once->had, &once->had_count, &error)
        < 0) {
        cli_fail (cli, &error);
        once_free (once);
        return NULL;
    }
    return once;
}

static void free_new (store_mail_t *mail)
{
    free (mail->period);
    free (mail->name);
    free (mail->content);
    free (mail->recipients);
}

void once_free (once_t *once)
{
    if (!once)
        return;
    store_mails_free (once->had, once->had_count);
    GL_FREE_EACH (once->new, once->new_count, it, free_new (it));
    free (once->forgotten);
    free (once->kind);
    free (once->who);
    free (once);
}

static bool is_it (const once_t *once, const store_mail_t *mail,
                   const char *period, const char *name, const char *what)
{
    return !strcmp (mail->kind, once->kind) && !strcmp (mail->period, period)
           && !strcmp (mail->name, name) && !strcmp (mail->content, what);
}

static char *lines_of (const text_list_t *texts)
{
    buffer_t lines = BUFFER_INIT;

    for (size_t i = 0; i < texts->count; i++)
        buffer_printf (&lines, "%s%s", i ? "\n" : "", texts->item[i]);
    return buffer_take (&lines);
}

bool once_is_new (once_t *once, const char *period, const char *name,
                  const char *what, const text_list_t *to)
{
    int64_t now = time (NULL);

    if (GL_ANY (once->had, once->had_count, it,
                is_it (once, it, period, name, what))
        || GL_ANY (once->new, once->new_count, it,
                   is_it (once, it, period, name, what)))
        return false;
    *GL_APPEND (once->new, once->new_count)
        = (store_mail_t){.kind = once->kind,
                         .period = xstrdup (period),
                         .name = xstrdup (name),
                         .content = xstrdup (what),
                         .message = (char *)"",
                         .recipients = lines_of (to),
                         .who = once->who,
                         .begun = now,
                         .sent = now};
    return true;
}

void once_forget (once_t *once, const char *period, const char *name,
                  const char *what)
{
    for (size_t i = 0; i < once->had_count; i++)
        if (is_it (once, &once->had[i], period, name, what))
            *GL_APPEND (once->forgotten, once->forgotten_count)
                = once->had[i].id;
}

static int write_all (store_t *store, void *arg, gl_error_t *error)
{
    once_t *once = arg;

    for (size_t i = 0; i < once->forgotten_count; i++)
        if (store_mail_forget (store, once->forgotten[i], error) < 0)
            return -1;
    for (size_t i = 0; i < once->new_count; i++)
        if (store_mail_add (store, &once->new[i], error) < 0)
            return -1;
    return 0;
}

int once_commit (once_t *once)
{
    gl_error_t error;

    if (once->new_count == 0 && once->forgotten_count == 0)
        return CLI_OK;
    return store_transaction (once->cli->store, write_all, once, &error) < 0
               ? cli_fail (once->cli, &error)
               : CLI_OK;
}
