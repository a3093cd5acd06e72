#include "mail/budget_mail.h"

#include "base/memory.h"
#include "mail/message.h"
#include "render/render.h"

/* Names may hold anything: one line stays one line. */
static void add_clean (buffer_t *out, const char *text)
{
    for (; *text; text++)
        buffer_add_char (
            out, (unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
}

static void add_line (buffer_t *out, const char *label, const char *value)
{
    if (value) {
        buffer_printf (out, "%-14s ", label);
        add_clean (out, value);
        buffer_add_char (out, '\n');
    }
}

static void add_amount (buffer_t *out, const site_t *site, const budget_t *b,
                        const char *label, bool known, mpq_srcptr value)
{
    GL_AUTOFREE char *text = budget_text (b, value);
    GL_AUTOFREE char *percent = budget_percent (b, value);
    GL_AUTOFREE char *line
        = xasprintf ("%s %s (%s %%)", text, budget_unit (b, site), percent);

    if (known)
        add_line (out, label, line);
}

static void add_contributors (buffer_t *out, const site_t *site,
                              const budget_t *b)
{
    if (b->part_count > 0)
        buffer_add_text (out, "\nTop spenders\n");
    for (size_t i = 0; i < b->part_count && i < BUDGET_CONTRIBUTORS; i++) {
        GL_AUTOFREE char *value = budget_text (b, b->part[i].value);
        GL_AUTOFREE char *line
            = xasprintf ("%s %s", value, budget_unit (b, site));
        buffer_add_text (out, "  ");
        add_clean (out, b->part[i].name);
        buffer_printf (out, ": %s\n", line);
    }
}

static char *subject_of (const budget_t *b)
{
    GL_AUTOFREE char *summary = budget_summary (b);
    GL_AUTOFREE char *subject = xasprintf (
        "GPU budget %s, %s: %s", b->budget->name, b->period_name, summary);
    buffer_t text = BUFFER_INIT;

    render_readable_text (&text, subject, false, " ");
    return buffer_take (&text);
}

static void add_body (buffer_t *out, const site_t *site, const budget_t *b,
                      const budget_alert_t *alert)
{
    GL_AUTOFREE char *told = budget_alert_text (alert);
    GL_AUTOFREE char *scope = budget_scope (b->budget);
    char stamp[ZONE_STAMP_SIZE], day[ZONE_STAMP_SIZE];

    add_line (out, "Alert", told);
    add_line (out, "Of", scope);
    add_line (out, "Period", b->period_name);
    add_line (out, "As of", zone_stamp (site->zone, b->as_of, stamp));
    buffer_add_char (out, '\n');
    add_amount (out, site, b, "Budget", true, b->amount);
    add_amount (out, site, b, "Spent", b->known, b->spent);
    add_amount (out, site, b, "Running jobs", b->known, b->encumbered);
    add_amount (out, site, b, "Forecast", b->run_rate.known, b->run_rate.value);
    add_amount (out, site, b, "By weekday", b->seasonal.known,
                b->seasonal.value);
    add_amount (out, site, b, "  at least", b->low.known, b->low.value);
    add_amount (out, site, b, "  at most", b->high.known, b->high.value);
    if (b->exhausted)
        add_line (out, "Exhausted on",
                  zone_unit_name (site->zone, CALENDAR_DAY, b->exhausted, day));
    add_contributors (out, site, b);
    buffer_add_text (out, "\nFor details, run gpuledger report chargeback.\n"
                          "For options, see 'gpuledger budget --help'.\n");
}

void budget_mail (const site_t *site, const budget_t *b,
                  const budget_alert_t *alert, buffer_t *out)
{
    BUFFER_AUTO body = BUFFER_INIT;
    BUFFER_AUTO text = BUFFER_INIT;
    BUFFER_AUTO bytes = BUFFER_INIT;
    GL_AUTOFREE char *subject = subject_of (b);
    text_list_t to = {.count = 0};
    message_t message = {.from = site->mail.from,
                         .reply_to = site->mail.reply_to,
                         .to = &to,
                         .subject = subject,
                         .date = b->as_of};

    add_body (&body, site, b, alert);
    render_readable_text (&text, buffer_text (&body), false, " ");
    message.text = buffer_text (&text);
    if (b->budget->owner)
        texts_add (&to, b->budget->owner);
    message_write (&message, &bytes);
    message_write_mbox (b->as_of, bytes.data, bytes.length, out);
    texts_clear (&to);
}
