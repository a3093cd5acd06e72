/* verb.h: the verbs, one file each. main.c orders them for the help. */
#ifndef GL_VERB_H
#define GL_VERB_H

#include "cli/cli.h"

extern const verb_t verb_backup;
extern const verb_t verb_balance;
extern const verb_t verb_budget;
extern const verb_t verb_close;
extern const verb_t verb_correct;
extern const verb_t verb_credit;
extern const verb_t verb_dispute;
extern const verb_t verb_doctor;
extern const verb_t verb_explain;
extern const verb_t verb_export;
extern const verb_t verb_import;
extern const verb_t verb_ingest;
extern const verb_t verb_init;
extern const verb_t verb_mail;
extern const verb_t verb_idle;
extern const verb_t verb_metrics;
extern const verb_t verb_mine;
extern const verb_t verb_price;
extern const verb_t verb_prices;
extern const verb_t verb_fits;
extern const verb_t verb_publish;
extern const verb_t verb_rates;
extern const verb_t verb_reopen;
extern const verb_t verb_report;
extern const verb_t verb_restore;
extern const verb_t verb_setup;
extern const verb_t verb_statement;
extern const verb_t verb_sync;
extern const verb_t verb_tag;
extern const verb_t verb_units;
extern const verb_t verb_verify;
extern const verb_t verb_whatif;

#endif /* !GL_VERB_H */
