#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "facts/unseen.h"

static const char *const words[STORE_NAME_COUNT]
    = {[STORE_NAME_ACCOUNT] = "account",
       [STORE_NAME_QOS] = "QOS",
       [STORE_NAME_PARTITION] = "partition",
       [STORE_NAME_RESERVATION] = "reservation"};

struct seeking {
    store_t *store;
    period_t period;
    unseen_f callback;
    void *arg;
    gl_error_t *error;
    bool read[STORE_NAME_COUNT];
    text_list_t known[STORE_NAME_COUNT];
    text_list_t done; /* "QOS 'x' of `rates`" */
    size_t count;
};

static void add_known (const char *name, void *arg)
{
    texts_add (arg, name);
}

static int seek (struct seeking *s, store_name_t kind, const char *section,
                 const place_t *place, const char *name)
{
    text_list_t *known = &s->known[kind];
    nearest_t nearest = {.word = name};
    GL_AUTOFREE char *what = NULL, *sentence = NULL;

    if (!name)
        return 0;
    what = xasprintf ("%s '%s' of `%s`", words[kind], name, section);
    if (texts_have (&s->done, what))
        return 0;
    if (!s->read[kind]
        && store_each_name (s->store, kind, add_known, known, s->error) < 0)
        return -1;
    s->read[kind] = true;
    texts_add (&s->done, what);
    s->count++;
    if (texts_have (known, name))
        return 0;
    for (size_t i = 0; i < known->count; i++)
        nearest_offer (&nearest, known->item[i]);
    sentence = xasprintf ("%s (%s:%d)", what, place->file, place->line);
    s->callback (sentence, nearest.name, s->arg);
    return 0;
}

static int seek_all (struct seeking *s, store_name_t kind,
                     const site_settlement_t *rule, const text_list_t *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (seek (s, kind, "settlement", &rule->place, names->item[i]) < 0)
            return -1;
    return 0;
}

static int seek_prices (struct seeking *s, const site_t *site)
{
    for (size_t i = 0; i < site->rate_count; i++) {
        const site_rate_t *r = &site->rates[i];
        if (period_overlaps (r->valid, s->period)
            && (seek (s, STORE_NAME_QOS, "rates", &r->place, r->qos) < 0
                || seek (s, STORE_NAME_PARTITION, "rates", &r->place,
                         r->partition)
                       < 0
                || seek (s, STORE_NAME_RESERVATION, "rates", &r->place,
                         r->reservation)
                       < 0))
            return -1;
    }
    for (size_t i = 0; i < site->qos_count; i++) {
        const site_qos_t *q = &site->qos[i];
        if (period_overlaps (q->valid, s->period)
            && seek (s, STORE_NAME_QOS, "qos", &q->place, q->name) < 0)
            return -1;
    }
    return 0;
}

static int seek_rules (struct seeking *s, const site_t *site)
{
    for (size_t i = 0; i < site->settlement_count; i++) {
        const site_settlement_t *rule = &site->settlement[i];
        if (period_overlaps (rule->valid, s->period)
            && (seek_all (s, STORE_NAME_QOS, rule, &rule->qos) < 0
                || seek_all (s, STORE_NAME_PARTITION, rule, &rule->partitions)
                       < 0
                || seek_all (s, STORE_NAME_ACCOUNT, rule, &rule->accounts) < 0))
            return -1;
    }
    for (size_t i = 0; i < site->budget_count; i++) {
        const site_budget_t *b = &site->budgets[i];
        if (period_overlaps (b->valid, s->period)
            && seek (s, STORE_NAME_ACCOUNT, "budgets", &b->place, b->account)
                   < 0)
            return -1;
    }
    return 0;
}

int unseen_each (store_t *store, const site_t *site, period_t period,
                 unseen_f callback, void *arg, size_t *ret_count,
                 gl_error_t *error)
{
    struct seeking s = {.store = store,
                        .period = period,
                        .callback = callback,
                        .arg = arg,
                        .error = error};
    text_list_t jobs = {NULL, 0};
    int rc
        = store_each_name (store, STORE_NAME_ACCOUNT, add_known, &jobs, error);

    if (rc == 0 && jobs.count > 0)
        rc = seek_prices (&s, site) < 0 || seek_rules (&s, site) < 0 ? -1 : 0;
    *ret_count = s.count;
    texts_clear (&jobs);
    texts_clear (&s.done);
    for (size_t i = 0; i < STORE_NAME_COUNT; i++)
        texts_clear (&s.known[i]);
    return rc;
}
