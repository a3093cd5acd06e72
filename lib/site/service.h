/*
 * service.h: a charge of another service: storage, licences, consulting, a cloud. The
 * system that runs the service computed it; the ledger bills it as it is.
 *
 * All fields are texts, so that a row is stored and compared as it was written;
 * numbers are shortest decimals. Texts are borrowed unless somebody says otherwise.
 */
#ifndef GL_SITE_SERVICE_H
#define GL_SITE_SERVICE_H

#include <stdint.h>

typedef struct {
    const char *source;    /* the system that the row comes from */
    const char *reference; /* the row's key in that system */
    uint64_t import;       /* the import that stored it */
    const char *day;     /* "2026-10-01": its date, or the first of its month */
    const char *team;    /* NULL: the team that owns the account */
    const char *account; /* NULL: of none, as the next two */
    const char *user;
    const char *project;
    const char *service; /* "storage" */
    const char *description; /* NULL: none, as of all below */
    const char *quantity;
    const char *unit;  /* "TB-months" */
    const char *price; /* of a unit */
    const char
        *amount; /* quantity x price, in smallest units of the currency */
    const char *cost_object;
    const char *service_category; /* as FOCUS has it; NULL: Other */
    const char
        *charge; /* "one-time" or "recurring" purchase, "credit", "adjustment",
                           "tax"; NULL: usage */
    const char *file;             /* that it was read from, as it was named */
    uint64_t line;                /* in it, from 1 on */
} service_t;

#endif /* !GL_SITE_SERVICE_H */
