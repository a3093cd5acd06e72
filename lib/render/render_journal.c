#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "render/escape.h"
#include "render/render_journal.h"

#define ABSENT "(none)" /* no escaped text has a bracket */
#define MORE   "(+)"    /* nor this: the text goes on */

/* Of ledger (3.3), in bytes: a part of an account (find_account()), and less than
 * a line (4,096). */
#define PART_MAX    255
#define COMMENT_MAX 3000

/* Up to where a part goes: not into an escape or a character, and what follows
 * does not begin with a blank. */
static size_t part_end (const char *text, size_t length, size_t most)
{
    size_t end = most - strlen (MORE);

    if (length <= most)
        return length;
    while (text[end] == ' ' || (text[end] & 0xc0) == 0x80
           || text[end - 1] == '%' || text[end - 2] == '%')
        end--;
    return end;
}

static void add_name (buffer_t *out, const char *name)
{
    BUFFER_AUTO text = BUFFER_INIT;
    const char *rest;
    size_t length, end;

    escape_journal (&text, name);
    rest = buffer_text (&text);
    length = text.length;
    while ((end = part_end (rest, length, PART_MAX)) < length) {
        buffer_add (out, rest, end);
        buffer_add_text (out, MORE ":");
        rest += end;
        length -= end;
    }
    buffer_add (out, rest, length);
}

/* The columns in which amounts end, where the account leaves room. */
#define AMOUNT_END 72

static void add_account (buffer_t *out, const journal_posting_t *posting)
{
    for (size_t i = 0; i < posting->depth; i++) {
        if (i > 0)
            buffer_add_char (out, ':');
        if (posting->account[i])
            add_name (out, posting->account[i]);
        else
            buffer_add_text (out, ABSENT);
    }
}

/* --- what is declared, so that --strict finds a name that is not ------- */

static int by_bytes (const void *a, const void *b)
{
    return strcmp (*(char *const *)a, *(char *const *)b);
}

static void declare_accounts (const journal_t *journal, buffer_t *out)
{
    char **names = NULL;
    size_t count = 0;

    for (size_t i = 0; i < journal->count; i++) {
        const journal_transaction_t *t = &journal->transaction[i];
        names = xreallocarray (names, count + t->count + 1, sizeof (*names));
        for (size_t k = 0; k < t->count; k++) {
            buffer_t name = BUFFER_INIT;
            add_account (&name, &t->posting[k]);
            names[count++] = buffer_take (&name);
        }
    }
    if (count > 1)
        qsort (names, count, sizeof (*names), by_bytes);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp (names[i - 1], names[i]) != 0)
            buffer_printf (out, "account %s\n", names[i]);
    for (size_t i = 0; i < count; i++)
        free (names[i]);
    free (names);
}

/* Some sites alone have these tags. */
static bool is_declared (const journal_t *journal, journal_tag_t tag)
{
    if (tag == JOURNAL_TAG_CPU_HOURS)
        return site_counts_cpus (journal->site);
    if (tag != JOURNAL_TAG_INSTITUTION && tag != JOURNAL_TAG_CLASS)
        return true;
    return GL_ANY (journal->transaction, journal->count, it, it->tag[tag]);
}

static void declare (const journal_t *journal, buffer_t *out)
{
    buffer_printf (out, "\ncommodity %s\n\n", journal->site->currency);
    for (size_t i = 0; i < JOURNAL_TAG_COUNT; i++)
        if (is_declared (journal, (journal_tag_t)i))
            buffer_printf (out, "tag %s\n",
                           journal_tag_name ((journal_tag_t)i));
    buffer_add_char (out, '\n');
    declare_accounts (journal, out);
}

/* --- transactions ------------------------------------------------------ */

/* What is longer is cut. */
static void add_tag_text (buffer_t *out, const char *value)
{
    BUFFER_AUTO text = BUFFER_INIT;
    size_t end;

    escape_journal (&text, value);
    end = part_end (buffer_text (&text), text.length, COMMENT_MAX);
    buffer_add (out, buffer_text (&text), end);
    if (end < text.length)
        buffer_add_text (out, MORE);
}

static void add_tags (buffer_t *out, char *const *tags)
{
    for (size_t i = 0; i < JOURNAL_TAG_COUNT; i++) {
        if (!tags[i])
            continue;
        buffer_printf (out, "    ; %s: ", journal_tag_name ((journal_tag_t)i));
        add_tag_text (out, tags[i]);
        buffer_add_char (out, '\n');
    }
}

static void add_posting (buffer_t *out, const journal_t *journal,
                         const journal_posting_t *posting)
{
    BUFFER_AUTO account = BUFFER_INIT;
    GL_AUTOFREE char *amount
        = exact_units_text (posting->units, journal->site->currency_digits);
    size_t length;
    int blanks;

    add_account (&account, posting);
    length = escape_length (buffer_text (&account)) + strlen (amount)
             + strlen (journal->site->currency) + 1;
    blanks = length < AMOUNT_END - 6 ? (int)(AMOUNT_END - 4 - length) : 2;
    buffer_printf (out, "    %s%*s%s %s\n", buffer_text (&account), blanks, "",
                   amount, journal->site->currency);
    add_tags (out, posting->tag);
}

static void add_transaction (buffer_t *out, const journal_t *journal,
                             const journal_transaction_t *t)
{
    buffer_printf (out, "\n%s * ", t->date);
    escape_journal (out, t->description);
    buffer_add_char (out, '\n');
    add_tags (out, t->tag);
    for (size_t i = 0; i < t->count; i++)
        add_posting (out, journal, &t->posting[i]);
}

/* --- all of it --------------------------------------------------------- */

void render_journal (const journal_t *journal, buffer_t *out)
{
    for (size_t i = 0; i < journal->remark_count; i++) {
        buffer_add_text (out, "; ");
        escape_visible (out, journal->remark[i]);
        buffer_add_char (out, '\n');
    }
    declare (journal, out);
    for (size_t i = 0; i < journal->count; i++)
        add_transaction (out, journal, &journal->transaction[i]);
}
