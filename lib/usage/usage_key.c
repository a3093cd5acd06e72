/* The keys of a cell: texts of a piece of usage, as small numbers. */
#include <string.h>

#include "base/memory.h"
#include "usage/usage_private.h"

/* --- texts ------------------------------------------------------------- */

uint32_t usage_intern (usage_t *u, const char *text)
{
    struct text_entry *entry;

    if (!text || !text[0])
        return 0;
    HASH_FIND_STR (u->texts, text, entry);
    if (!entry) {
        entry = xcalloc (1, sizeof (*entry));
        entry->id = u->text_count;
        entry->text = xstrdup (text);
        HASH_ADD_KEYPTR (hh, u->texts, entry->text, strlen (entry->text),
                         entry);
        if (u->text_count == u->text_size) {
            u->text_size *= 2;
            u->text_of = xreallocarray (u->text_of, u->text_size,
                                        sizeof (*u->text_of));
        }
        u->text_of[u->text_count++] = entry->text;
    }
    return entry->id;
}

/* Of a key, often the same as of the last segment. Texts of a rollup stay where they are while
 * it is added: they are known by their addresses. */
uint32_t usage_intern_key (usage_t *u, key_id_t key, const char *text)
{
    uint32_t *last = &u->last_text[key];
    struct recent_text *recent;

    if (!text || !text[0])
        return 0;
    if (!u->recent) {
        if (*last == 0 || strcmp (u->text_of[*last], text) != 0)
            *last = usage_intern (u, text);
        return *last;
    }
    recent
        = &u->recent[((uintptr_t)text ^ (uintptr_t)text >> 11) % RECENT_TEXTS];
    if (recent->text != text)
        *recent = (struct recent_text){text, usage_intern (u, text)};
    return recent->id;
}

/* --- keys that are dear to find ---------------------------------------- */

static const calendar_unit_t units[KEY_COUNT] = {
    [KEY_HOUR] = CALENDAR_HOUR,
    [KEY_DAY] = CALENDAR_DAY,
    [KEY_MONTH] = CALENDAR_MONTH,
};

bool usage_key_unit (key_id_t key, calendar_unit_t *ret_unit)
{
    *ret_unit = units[key];
    return key == KEY_HOUR || key == KEY_DAY || key == KEY_MONTH;
}

/* The name of the unit that the last instant of about that hour or day lay in, as long as it
 * is the same. */
static uint32_t unit_id (usage_t *u, calendar_unit_t unit, int64_t instant)
{
    uint64_t length = unit == CALENDAR_HOUR ? 3600 : 86400;
    struct named_unit *last
        = &u->named[unit][(uint64_t)instant / length % NAMED_UNITS];
    char name[ZONE_STAMP_SIZE];

    if (last->id == 0 || instant < last->period.start
        || instant >= last->period.end) {
        last->period = zone_unit (u->query->site->zone, unit, instant);
        last->id = usage_intern (u, zone_unit_name (u->query->site->zone, unit,
                                                    instant, name));
    }
    return last->id;
}

static const char *team_text (const usage_t *u, key_id_t key,
                              const usage_subject_t *s)
{
    const site_t *site = u->query->site;
    const site_team_t *team = team_of_account (
        site, u->query->accounts, s->cluster, s->account, s->instant);

    if (!team || !key_is_of_team (key))
        return team ? team->name : NULL;
    return key_of_team (
        key, team_within (site, team->name,
                          zone_unit (site->zone, CALENDAR_MONTH, s->instant)));
}

/* Teams begin and end at the changes of the period, and at no other instant of
 * it. */
static uint32_t team_id (usage_t *u, key_id_t of, const usage_subject_t *s)
{
    struct team_key key;
    struct team_entry *entry;

    if (s->instant < u->query->period.start
        || s->instant >= u->query->period.end)
        return usage_intern (u, team_text (u, of, s));
    memset (&key, 0, sizeof (key));
    key.cluster = usage_intern_key (u, KEY_CLUSTER, s->cluster);
    key.account = usage_intern_key (u, KEY_ACCOUNT, s->account);
    key.of = of;
    key.month
        = key_is_of_team (of) ? unit_id (u, CALENDAR_MONTH, s->instant) : 0;
    while (key.change < u->cuts.change_count
           && u->cuts.changes[key.change] <= s->instant)
        key.change++;
    entry = u->last_team; /* most cells of an account follow one another */
    if (entry && memcmp (&entry->key, &key, sizeof (key)) == 0)
        return entry->id;
    HASH_FIND (hh, u->teams, &key, sizeof (key), entry);
    if (!entry) {
        entry = xcalloc (1, sizeof (*entry));
        entry->key = key;
        entry->id = usage_intern (u, team_text (u, of, s));
        HASH_ADD (hh, u->teams, key, sizeof (entry->key), entry);
    }
    u->last_team = entry;
    return entry->id;
}

/* --- keys -------------------------------------------------------------- */

static const char *kind_text (const device_kind_t *kind, key_id_t key)
{
    const site_pool_t *pool = kind ? kind->pool : NULL;

    switch (key) {
    case KEY_POOL:
        return pool ? pool->name : NULL;
    case KEY_GPU:
        return pool ? pool->gpu : NULL;
    case KEY_GRES_TYPE:
        return kind ? kind->type : NULL;
    case KEY_PROFILE:
        return kind ? kind->profile : NULL;
    default:
        return NULL;
    }
}

/* NULL: absent. Teams and units of time have an id only. */
static const char *key_text (const usage_subject_t *s, key_id_t key,
                             const char *label, char buf[TAG_MAX + 1])
{
    switch (key) {
    case KEY_CLUSTER:
        return s->cluster;
    case KEY_ACCOUNT:
        return s->account;
    case KEY_USER:
        return s->user;
    case KEY_PROJECT:
        return s->project;
    case KEY_LABEL:
        return s->labels && label_value (s->labels, label, buf) ? buf : NULL;
    case KEY_QOS:
        return s->qos;
    case KEY_PARTITION:
        return s->partition;
    case KEY_POOL:
    case KEY_GPU:
    case KEY_GRES_TYPE:
    case KEY_PROFILE:
        return kind_text (s->kind, key);
    case KEY_NODE:
        return s->node;
    case KEY_STATE:
        return s->state;
    case KEY_TEAM:
    case KEY_INSTITUTION:
    case KEY_CLASS:
    case KEY_COST_CENTER:
    case KEY_HOUR:
    case KEY_DAY:
    case KEY_MONTH:
    case KEY_COUNT:
        break;
    }
    return NULL;
}

/* False: it is found by its text. */
static bool dear_key_id (usage_t *u, key_id_t key, const usage_subject_t *s,
                         uint32_t *ret_id)
{
    calendar_unit_t unit;

    if (key == KEY_TEAM || key_is_of_team (key))
        *ret_id = team_id (u, key, s);
    else if (usage_key_unit (key, &unit))
        *ret_id = unit_id (u, unit, s->instant);
    else
        return false;
    return true;
}

static uint32_t key_id (usage_t *u, key_id_t key, const usage_subject_t *s)
{
    char buf[TAG_MAX + 1];
    const char *text;
    uint32_t id;

    if (dear_key_id (u, key, s, &id))
        return id;
    text = key_text (s, key, u->query->by.label, buf);
    return text == buf ? usage_intern (u, text)
                       : usage_intern_key (u, key, text);
}

/* --- filters ----------------------------------------------------------- */

static bool filter_passes (usage_t *u, const usage_filter_t *f,
                           const usage_subject_t *s)
{
    char buf[TAG_MAX + 1];
    uint32_t id;
    const char *text = dear_key_id (u, f->key, s, &id)
                           ? u->text_of[id]
                           : key_text (s, f->key, f->label, buf);

    if (!text || !text[0])
        text = key_info (f->key)->absent;
    for (size_t i = 0; i < f->values.count; i++) {
        if (!strcmp (f->values.item[i], text))
            return true;
    }
    return false;
}

static bool filters_pass (usage_t *u, const usage_filter_t *filters,
                          size_t count, const usage_subject_t *s)
{
    for (size_t i = 0; i < count; i++) {
        if (!filter_passes (u, &filters[i], s))
            return false;
    }
    return true;
}

bool usage_passes (usage_t *u, const usage_subject_t *s)
{
    return filters_pass (u, u->query->filters, u->query->filter_count, s);
}

void usage_key_ids (usage_t *u, const usage_subject_t *s,
                    uint32_t ret_text[KEYS_MAX])
{
    const usage_query_t *q = u->query;
    bool apart = q->apart_keys == 0
                 || filters_pass (u, q->apart, q->apart_count, s);

    for (size_t i = 0; i < q->by.count; i++)
        ret_text[i] = apart || !(q->apart_keys & 1U << q->by.id[i])
                          ? key_id (u, q->by.id[i], s)
                          : 0;
}

/* --- life -------------------------------------------------------------- */

void usage_new_keys (usage_t *u)
{
    u->text_size = 64;
    u->text_count = 1;
    u->text_of = xcalloc (u->text_size, sizeof (*u->text_of));
}

void usage_free_keys (usage_t *u)
{
    struct text_entry *text, *next_text;
    struct team_entry *team, *next_team;

    HASH_ITER (hh, u->texts, text, next_text)
    {
        HASH_DEL (u->texts, text);
        free (text->text);
        free (text);
    }
    HASH_ITER (hh, u->teams, team, next_team)
    {
        HASH_DEL (u->teams, team);
        free (team);
    }
    free (u->text_of);
}
