/* balance_mail.h: a low balance of prepaid money as a message. Pure. */
#ifndef GL_MAIL_BALANCE_MAIL_H
#define GL_MAIL_BALANCE_MAIL_H

#include "base/buffer.h"
#include "statement/balances.h"

/* To whom the mail of a rule goes. */
void balance_mail_addresses (const site_t *site, const char *rule,
                             period_t month, text_list_t *to);
/* Appended: a message in mbox form to the teams of the rule and those who paid money in.
 * `as_of`: the end of the facts. */
void balance_mail (const site_t *site, const bill_balance_t *balance,
                   const site_settlement_t *rule, period_t month, int64_t as_of,
                   buffer_t *out);

#endif /* !GL_MAIL_BALANCE_MAIL_H */
