#include "mail/budget_mail.h"

#include "base/memory.h"
#include "mail/alert.h"

static void add_amount (buffer_t *out, const site_t *site, const budget_t *b,
                        const char *label, bool known, mpq_srcptr value)
{
    GL_AUTOFREE char *text = budget_text (b, value);
    GL_AUTOFREE char *percent = budget_percent (b, value);
    GL_AUTOFREE char *line
        = xasprintf ("%s %s (%s %%)", text, budget_unit (b, site), percent);

    if (known)
        alert_line (out, label, line);
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
        alert_text (out, b->part[i].name);
        buffer_printf (out, ": %s\n", line);
    }
}

static void add_body (buffer_t *out, const site_t *site, const budget_t *b,
                      const budget_alert_t *alert)
{
    GL_AUTOFREE char *told = budget_alert_text (alert);
    GL_AUTOFREE char *scope = budget_scope (b->budget);
    char stamp[ZONE_STAMP_SIZE], day[ZONE_STAMP_SIZE];

    alert_line (out, "Alert", told);
    alert_line (out, "Of", scope);
    alert_line (out, "Period", b->period_name);
    alert_line (out, "As of", zone_stamp (site->zone, b->as_of, stamp));
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
        alert_line (
            out, "Exhausted on",
            zone_unit_name (site->zone, CALENDAR_DAY, b->exhausted, day));
    add_contributors (out, site, b);
    buffer_add_text (out, "\nFor details, run gpuledger report chargeback.\n"
                          "For options, see 'gpuledger budget --help'.\n");
}

void budget_mail (const site_t *site, const budget_t *b,
                  const budget_alert_t *alert, buffer_t *out)
{
    GL_AUTOFREE char *summary = budget_summary (b);
    GL_AUTOFREE char *subject = xasprintf (
        "GPU budget %s, %s: %s", b->budget->name, b->period_name, summary);
    BUFFER_AUTO body = BUFFER_INIT;
    text_list_t to = {.count = 0};

    add_body (&body, site, b, alert);
    if (b->budget->owner)
        texts_add (&to, b->budget->owner);
    alert_write (site, &to, subject, b->as_of, buffer_text (&body), out);
    texts_clear (&to);
}
