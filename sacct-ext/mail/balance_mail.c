#include "mail/balance_mail.h"

#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "mail/alert.h"
#include "site/project.h"

static void add_addresses (const site_t *site, const char *name, period_t month,
                           text_list_t *to)
{
    const site_team_t *team = team_within (site, name, month);

    for (size_t i = 0; team && i < team->mail.count; i++)
        texts_add_new (to, team->mail.item[i]);
    if (team && team->mail.count == 0 && team->email)
        texts_add_new (to, team->email);
}

void balance_mail_addresses (const site_t *site, const char *name,
                             period_t month, text_list_t *to)
{
    for (size_t k = 0; k < site->settlement_count; k++) {
        const site_settlement_t *rule = &site->settlement[k];
        if (strcmp (rule->name, name) != 0)
            continue;
        for (size_t i = 0; i < rule->teams.count; i++)
            add_addresses (site, rule->teams.item[i], month, to);
        for (size_t i = 0; i < rule->deposit_count; i++)
            add_addresses (site, rule->deposits[i].team, month, to);
    }
}

static void add_money (buffer_t *body, const site_t *site, const char *label,
                       mpq_srcptr amount)
{
    GL_AUTOFREE char *text = exact_text (amount, site->currency_digits);
    GL_AUTOFREE char *line = xasprintf ("%s %s", text, site->currency);

    alert_line (body, label, line);
}

static void add_body (buffer_t *body, const site_t *site,
                      const bill_balance_t *b, const site_settlement_t *rule,
                      period_t month, int64_t as_of)
{
    char stamp[ZONE_STAMP_SIZE];
    mpq_t paid;

    mpq_init (paid);
    balances_deposits (site, rule->name, month.end, paid);
    alert_line (body, "Alert", "low balance of prepaid money");
    alert_line (body, "Of", rule->name);
    alert_line (body, "Month", b->month);
    alert_line (body, "As of", zone_stamp (site->zone, as_of, stamp));
    buffer_add_char (body, '\n');
    add_money (body, site, "Paid in", paid);
    add_money (body, site, "Opening", b->opening);
    add_money (body, site, "Added", b->added);
    add_money (body, site, "Used", b->used);
    add_money (body, site, "Left", b->closing);
    mpq_mul (paid, paid, rule->low_balance);
    add_money (body, site, "Low below", paid);
    mpq_clear (paid);
    buffer_printf (body,
                   "\nCharges above the balance are billed to the teams. For "
                   "details,\nrun gpuledger balance --month %s.\n",
                   b->month);
}

void balance_mail (const site_t *site, const bill_balance_t *b,
                   const site_settlement_t *rule, period_t month, int64_t as_of,
                   buffer_t *out)
{
    GL_AUTOFREE char *left = exact_text (b->closing, site->currency_digits);
    GL_AUTOFREE char *subject = xasprintf ("GPU balance %s is low: %s %s left",
                                           rule->name, left, site->currency);
    BUFFER_AUTO body = BUFFER_INIT;
    text_list_t to = {.count = 0};

    add_body (&body, site, b, rule, month, as_of);
    balance_mail_addresses (site, rule->name, month, &to);
    alert_write (site, &to, subject, as_of, buffer_text (&body), out);
    texts_clear (&to);
}
