/*
 * check.h: what a site must fulfil as a whole: names that are unique at every
 * instant, references that lead somewhere, pools that do not claim one device
 * twice, power that always has a tariff.
 */
#ifndef GL_CONFIG_CHECK_H
#define GL_CONFIG_CHECK_H

#include "base/error.h"
#include "config/schema.h"
#include "site/site.h"

/* One entry of a list, as the file has it. */
typedef struct {
    const schema_kind_t *kind;
    char *identity; /* its naming values: "h100", "fabric, h100" */
    period_t valid;
    place_t place;
} check_entry_t;

/* A value that must be the name of an entry of another kind. */
typedef struct {
    const schema_kind_t *kind;
    char *name;
    const char *key; /* where it is used */
    bool aliases;    /* of teams: an alias will do */
    place_t place;
} check_reference_t;

typedef struct {
    check_entry_t *entry;
    size_t entry_count;
    check_reference_t *reference;
    size_t reference_count;
} check_list_t;

/* Take the texts. */
void check_add_entry (check_list_t *list, check_entry_t entry);
void check_add_reference (check_list_t *list, check_reference_t reference);
void check_list_done (check_list_t *list);

/* Sorts the list. The first problem found, by kind then name. */
int check_site (const site_t *site, check_list_t *list, gl_error_t *error);

/* Part of it: accounts, names and aliases of teams. */
int check_teams (const site_t *site, gl_error_t *error);
/* Fills teams from `institutions`; before check_site(). */
int institutions_apply (site_t *site, gl_error_t *error);
/* Once the site is checked: rules, taxes and budgets have all names that their teams
 * ever have, and an entitlement is an entry for each name of its team in turn. */
void team_names_apply (site_t *site);

/* A rate with `after_end: not_billed` is followed by one of 0, up to the next rate
 * for the same. After check_site(). */
void rates_apply (site_t *site);
/* Part of it: assets, power, costs. */
int check_book (const site_t *site, gl_error_t *error);
/* Part of it: rates, tiers, QOS, entitlements. */
int check_prices (const site_t *site, gl_error_t *error);
/* Part of it: settlement. */
int check_settlement (const site_t *site, gl_error_t *error);

#endif /* !GL_CONFIG_CHECK_H */
