#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/calendar.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/network.h"
#include "base/number.h"
#include "config/value.h"
#include "gres/nodelist.h"
#include "site/segment.h"

/* A GPU pool of more nodes' GPUs than this is a typing error. */
#define COUNT_MAX 1000000
#define MEGABYTES_MAX (1 << 30)
#define LIFE_MONTHS_MAX 1200
#define SECONDS_MAX 600
#define DURATION_MAX (INT64_C (36525) * 86400)
/* What a batch may call a node or a cluster (docs/formats/wire.md). */
#define NAME_MAX_BYTES 128
/* Instants end with the zone's table (base/zone.h). */
#define YEAR_MIN 1970
#define YEAR_MAX 2099

static bool is_rational (value_type_t type)
{
    return type == VALUE_DECIMAL || type == VALUE_RATIO || type == VALUE_SALVAGE
           || type == VALUE_REVALUE;
}

void value_init (const schema_kind_t *kind, void *entry)
{
    for (size_t i = 0; i < kind->key_count; i++) {
        const schema_key_t *key = &kind->keys[i];
        if (is_rational (key->type))
            mpq_init (*(mpq_t *)((char *)entry + key->offset));
    }
    if (kind->dated) {
        period_t *valid = (period_t *)((char *)entry + kind->valid);
        *valid = (period_t){SITE_ALWAYS_START, SITE_ALWAYS_END};
    }
}

static int set_text (char **field, const char *text)
{
    free (*field);
    *field = xstrdup (text);
    return 0;
}

/* A daemon's directory is /. */
static int set_path (char **field, const char *text, gl_error_t *error)
{
    if (text[0] != '/')
        return gl_error (
            error, "'%.200s' is not an absolute path: begin it with /", text);
    return set_text (field, text);
}

static int set_name (char **field, const char *text, gl_error_t *error)
{
    bool good = strlen (text) <= NAME_MAX_BYTES;

    for (const char *p = text; *p && good; p++)
        good = isgraph ((unsigned char)*p) && !strchr ("[],/", *p);
    if (!good)
        return gl_error (error,
                         "'%.200s' is not a name of at most %d printable "
                         "characters without blanks, brackets, ',' and '/'",
                         text, NAME_MAX_BYTES);
    return set_text (field, text);
}

static int set_nodes (char **field, const char *text, gl_error_t *error)
{
    nodelist_t *nodes = nodelist_open (text, error);

    if (!nodes)
        return -1;
    nodelist_close (nodes);
    return set_text (field, text);
}

static int set_network (char **field, const char *text, gl_error_t *error)
{
    uint32_t network, mask;

    if (network_parse (text, &network, &mask, error) < 0)
        return -1;
    return set_text (field, text);
}

static int add_host (text_list_t *list, const char *text, gl_error_t *error)
{
    if (network_check_host (text, error) < 0)
        return -1;
    texts_add (list, text);
    return 0;
}

/* The bounds that the key's flags set. */
static int check_range (const schema_key_t *key, const char *text,
                        const mpq_t value, gl_error_t *error)
{
    if (mpq_sgn (value) < 0 && !(key->flags & SCHEMA_SIGNED))
        return gl_error (error, "'%s' is below 0", text);
    if (mpq_cmp_si (value, -1, 1) < 0)
        return gl_error (error, "'%s' is below -100%%", text);
    if ((key->flags & SCHEMA_POSITIVE) && mpq_sgn (value) == 0)
        return gl_error (error, "must be above 0");
    if ((key->flags & SCHEMA_TO_ONE) && mpq_cmp_ui (value, 1, 1) > 0)
        return gl_error (error, "'%s' is more than 100%%", text);
    if ((key->flags & SCHEMA_FROM_ONE) && mpq_cmp_ui (value, 1, 1) < 0)
        return gl_error (error, "'%s' is below 1", text);
    return 0;
}

static int set_rational (const schema_key_t *key, const char *text, mpq_t value,
                         gl_error_t *error)
{
    int rc;

    if (key->flags & SCHEMA_YES_NO)
        text = !strcmp (text, "yes")  ? "100%"
               : !strcmp (text, "no") ? "0"
                                      : text;
    rc = key->type == VALUE_DECIMAL ? exact_parse (text, value, error)
                                    : exact_parse_ratio (text, value, error);
    /* "25" where 25 % is meant; who means 1000 % and more writes "1000%" */
    if (rc == 0 && key->type == VALUE_RATIO && !strchr (text, '%')
        && mpq_cmp_ui (value, 10, 1) >= 0)
        return gl_error (error,
                         "'%.40s' is that many times the whole; write "
                         "'%.40s%%' if that is meant",
                         text, text);
    return rc < 0 ? -1 : check_range (key, text, value, error);
}

/* An amount, or a share of the price (read before: the table's order). */
static int set_salvage (const schema_key_t *key, const char *text,
                        site_asset_t *asset, gl_error_t *error)
{
    size_t length = strlen (text);
    bool share = length > 0 && text[length - 1] == '%';

    if ((share ? exact_parse_ratio (text, asset->salvage, error)
               : exact_parse (text, asset->salvage, error))
        < 0)
        return -1;
    if (share)
        mpq_mul (asset->salvage, asset->salvage, asset->price);
    if (mpq_cmp (asset->salvage, asset->price) > 0)
        return gl_error (error, "'%s' is more than the price", text);
    return check_range (key, text, asset->salvage, error);
}

/* The price is the asset's: what a share is of is known where it is used. */
static int set_revalue (const schema_key_t *key, const char *text,
                        site_asset_change_t *change, gl_error_t *error)
{
    size_t length = strlen (text);
    bool share = length > 0 && text[length - 1] == '%';

    change->salvage_is = share ? SALVAGE_SHARE : SALVAGE_AMOUNT;
    if ((share ? exact_parse_ratio (text, change->salvage, error)
               : exact_parse (text, change->salvage, error))
        < 0)
        return -1;
    return check_range (key, text, change->salvage, error);
}

static int set_count (const char *text, int most, int64_t *field,
                      gl_error_t *error)
{
    int64_t value;

    if (number_i64_text (text, &value) < 0 || value < 1 || value > most)
        return gl_error (error, "'%.60s' is not a whole number from 1 to %d",
                         text, most);
    *field = value;
    return 0;
}

static int set_date (const char *text, civil_t *field, gl_error_t *error)
{
    civil_t date;

    if (calendar_parse_date (text, strlen (text), &date) < 0)
        return gl_error (error,
                         "'%.60s' is not a date that exists; write e.g. "
                         "2026-03-10",
                         text);
    if (date.year < YEAR_MIN || date.year > YEAR_MAX)
        return gl_error (error, "'%.60s' is not between %d and %d", text,
                         YEAR_MIN, YEAR_MAX);
    *field = date;
    return 0;
}

/* "2026-10-05", "2026-10-05 14:00", with seconds, or with a T as sacct has it. */
static int set_time (const char *text, civil_t *field, gl_error_t *error)
{
    const char *time = strpbrk (text, " T");
    GL_AUTOFREE char *day
        = xstrndup (text, time ? (size_t)(time - text) : strlen (text));
    civil_t civil;
    size_t length = time ? strlen (time) : 0;

    if (set_date (day, &civil, error) < 0)
        return -1;
    if (time
        && ((length != 6 && length != 9)
            || calendar_two_digits (time + 1, &civil.hour) < 0 || time[3] != ':'
            || calendar_two_digits (time + 4, &civil.minute) < 0
            || (length == 9
                && (time[6] != ':'
                    || calendar_two_digits (time + 7, &civil.second) < 0))
            || !civil_valid (&civil)))
        return gl_error (error,
                         "'%.60s' is not a time that exists; write e.g. "
                         "2026-03-10 14:00",
                         text);
    *field = civil;
    return 0;
}

static int set_limit (const site_t *site, const schema_key_t *key,
                      const char *text, period_t *valid, gl_error_t *error)
{
    bool timed = key->type == VALUE_START || key->type == VALUE_END;
    civil_t date;

    if ((timed ? set_time (text, &date, error) : set_date (text, &date, error))
        < 0)
        return -1;
    if (key->type == VALUE_FROM || key->type == VALUE_START)
        valid->start = zone_instant (site->zone, &date);
    else
        valid->end = zone_instant (site->zone, &date);
    if (valid->end <= valid->start)
        return gl_error (error,
                         "'%s' is not after `from`; `to` is the first %s "
                         "which the entry no longer holds",
                         text, timed ? "moment at" : "day on");
    return 0;
}

int value_span (const char *text, int *ret_months, gl_error_t *error)
{
    size_t length = strlen (text);
    char unit = length > 1 ? text[length - 1] : '\0';
    uint64_t number;

    if ((unit != 'y' && unit != 'm')
        || number_u64 (text, length - 1, &number) < 0 || number < 1
        || number > LIFE_MONTHS_MAX / (unit == 'y' ? 12 : 1))
        return gl_error (error,
                         "'%.60s' is not a span; write years or months, e.g. "
                         "5y or 18m",
                         text);
    *ret_months = (int)number * (unit == 'y' ? 12 : 1);
    return 0;
}

/* At most a century: facts of any age are fresh enough for who closes the past. */
static int set_duration (const schema_key_t *key, const char *text,
                         int64_t *field, gl_error_t *error)
{
    static const struct {
        char letter;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    size_t length = strlen (text);
    uint64_t number;

    for (size_t i = 0; length > 1 && i < GL_ARRAY_SIZE (units); i++) {
        if (text[length - 1] != units[i].letter)
            continue;
        if (number_u64 (text, length - 1, &number) < 0
            || number > (uint64_t)(DURATION_MAX / units[i].seconds))
            break;
        if ((key->flags & SCHEMA_POSITIVE) && number == 0)
            return gl_error (error, "must be above 0");
        *field = (int64_t)number * units[i].seconds;
        return 0;
    }
    return gl_error (error,
                     "'%.60s' is not a duration of up to a century; "
                     "write seconds, minutes, hours or days, e.g. 90s, 30m, "
                     "1h or 2d",
                     text);
}

/* Charges are made by calendar month: a year cannot begin within one. */
static int set_month (const char *text, int *field, gl_error_t *error)
{
    uint64_t month;

    if (strlen (text) != 5 || strcmp (text + 2, "-01") != 0
        || number_u64 (text, 2, &month) < 0 || month < 1 || month > 12)
        return gl_error (error,
                         "'%.60s' is not the first day of a month; write month "
                         "and day, e.g. 07-01",
                         text);
    *field = (int)month;
    return 0;
}

/* Words, divided by blanks; the loader has emptied the field. */
static int set_states (const char *text, uint32_t *field, gl_error_t *error)
{
    if (!strcmp (text, "off"))
        return 0;
    while (*text) {
        size_t length = strcspn (text, " ");
        segment_state_t state;
        if (segment_state_parse (text, length, &state) < 0)
            return gl_error (
                error,
                "'%.*s' is not an end of a job; write the words of "
                "sacct's State, e.g. NODE_FAIL, or off",
                (int)(length > 60 ? 60 : length), text);
        *field |= segment_state_bit (state);
        text += length + strspn (text + length, " ");
    }
    return 0;
}

static int set_zone (const char *text, zone_t **field, gl_error_t *error)
{
    zone_t *zone = zone_open (text, error);

    if (!zone)
        return -1;
    zone_close (*field);
    *field = zone;
    return 0;
}

/* Currencies whose smallest unit is not a hundredth: ISO 4217, list one. */
static int currency_digits (const char *code)
{
    static const char none[] = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX "
                               "UYI VND VUV XAF XOF XPF";
    static const char three[] = "BHD IQD JOD KWD LYD OMR TND";
    static const char four[] = "CLF UYW";

    return strstr (none, code)    ? 0
           : strstr (three, code) ? 3
           : strstr (four, code)  ? 4
                                  : 2;
}

static int set_currency (site_t *site, const char *text, gl_error_t *error)
{
    if (strlen (text) != 3 || !isupper ((unsigned char)text[0])
        || !isupper ((unsigned char)text[1])
        || !isupper ((unsigned char)text[2]))
        return gl_error (error,
                         "'%.60s' is not a currency; write the three capital "
                         "letters of ISO 4217, e.g. EUR",
                         text);
    memcpy (site->currency, text, 4);
    site->currency_digits = currency_digits (text);
    return 0;
}

static int set_word (const schema_key_t *key, const char *text, int *field,
                     gl_error_t *error)
{
    BUFFER_AUTO known = BUFFER_INIT;

    for (const schema_word_t *w = key->words; w->word; w++) {
        if (strcmp (w->word, text) == 0) {
            *field = w->value;
            return 0;
        }
        buffer_printf (&known, "%s%s", known.length ? ", " : "", w->word);
    }
    return gl_error (error, "'%.60s' is not one of %s", text,
                     buffer_text (&known));
}

/* "1/7" -> two ints side by side. */
static int set_slices (const char *text, int *field, gl_error_t *error)
{
    const char *slash = strchr (text, '/');
    uint64_t part, whole;

    if (!slash || number_u64 (text, slash - text, &part) < 0
        || number_u64_text (slash + 1, &whole) < 0 || part < 1 || whole > 64
        || part > whole)
        return gl_error (error,
                         "'%.60s' does not say slices of all slices; write "
                         "e.g. 1/7",
                         text);
    field[0] = (int)part;
    field[1] = (int)whole;
    return 0;
}

static int set_numbers (const char *text, int64_t *field, gl_error_t *error)
{
    size_t length = strcspn (text, "-+");
    const char *rest = text + length;
    uint64_t least, most;

    if (number_u64 (text, length, &least) < 0 || least < 1 || least > COUNT_MAX
        || (*rest == '+' && rest[1] != '\0')
        || (*rest == '-'
            && (number_u64_text (rest + 1, &most) < 0 || most < least
                || most > COUNT_MAX)))
        return gl_error (error,
                         "'%.60s' does not say how many; write e.g. 4, 2-4 or "
                         "2+",
                         text);
    field[0] = (int64_t)least;
    field[1] = *rest == '+'   ? INT64_MAX
               : *rest == '-' ? (int64_t)most
                              : (int64_t)least;
    return 0;
}

static int day_index (const char *text, size_t length)
{
    static const char *const days[]
        = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

    for (int i = 0; length == 3 && i < 7; i++)
        if (strncmp (text, days[i], 3) == 0)
            return i;
    return -1;
}

/* "mon-fri,sun"; a range may pass the end of the week. */
static int set_days (const char *text, unsigned *field, gl_error_t *error)
{
    unsigned days = 0;

    for (const char *p = text;;) {
        size_t length = strcspn (p, ",");
        const char *dash = memchr (p, '-', length);
        int first = day_index (p, dash ? (size_t)(dash - p) : length);
        int last = dash ? day_index (dash + 1, length - (size_t)(dash + 1 - p))
                        : first;
        if (first < 0 || last < 0)
            return gl_error (error,
                             "'%.60s' does not name days; write e.g. mon-fri "
                             "or sat,sun",
                             text);
        for (int d = first;; d = (d + 1) % 7) {
            days |= 1u << d;
            if (d == last)
                break;
        }
        if (p[length] == '\0')
            break;
        p += length + 1;
    }
    *field = days;
    return 0;
}

/* "07:00" to minutes; 24:00 is the end of the day. */
static int minutes_of (const char *text, int *ret_minutes)
{
    uint64_t hour, minute;

    if (strlen (text) < 5 || text[2] != ':' || number_u64 (text, 2, &hour) < 0
        || number_u64 (text + 3, 2, &minute) < 0 || minute > 59
        || hour * 60 + minute > 24 * 60)
        return -1;
    *ret_minutes = (int)(hour * 60 + minute);
    return 0;
}

static int set_hours (const char *text, int *field, gl_error_t *error)
{
    if (strlen (text) != 11 || text[5] != '-'
        || minutes_of (text, &field[0]) < 0
        || minutes_of (text + 6, &field[1]) < 0 || field[0] == field[1]
        || field[0] == 24 * 60)
        return gl_error (error,
                         "'%.60s' does not name hours of a day; write e.g. "
                         "07:00-22:00, or 22:00-06:00 for those of a night",
                         text);
    return 0;
}

/* Texts go to terminals and pages: nothing that moves a cursor. */
static int check_text (const char *text, gl_error_t *error)
{
    for (const char *p = text; *p; p++) {
        if (iscntrl ((unsigned char)*p))
            return gl_error (error, "holds a control character");
    }
    return 0;
}

int value_set (site_t *site, const schema_key_t *key, void *entry,
               const char *text, gl_error_t *error)
{
    void *field = (char *)entry + key->offset;

    if (check_text (text, error) < 0)
        return -1;
    switch (key->type) {
    case VALUE_TEXT:
        return set_text (field, text);
    case VALUE_LIST:
        texts_add (field, text);
        return 0;
    case VALUE_PATH:
        return set_path (field, text, error);
    case VALUE_NAME:
        return set_name (field, text, error);
    case VALUE_NODES:
        return set_nodes (field, text, error);
    case VALUE_NETWORK:
        return set_network (field, text, error);
    case VALUE_HOSTS:
        return add_host (field, text, error);
    case VALUE_DECIMAL:
    case VALUE_RATIO:
        return set_rational (key, text, *(mpq_t *)field, error);
    case VALUE_COUNT:
        return set_count (text, COUNT_MAX, field, error);
    case VALUE_MEGABYTES:
        return set_count (text, MEGABYTES_MAX, field, error);
    case VALUE_SECONDS:
        return set_count (text, SECONDS_MAX, field, error);
    case VALUE_DURATION:
        return set_duration (key, text, field, error);
    case VALUE_STATES:
        return set_states (text, field, error);
    case VALUE_DATE:
        return set_date (text, field, error);
    case VALUE_FROM:
    case VALUE_TO:
    case VALUE_START:
    case VALUE_END:
        return set_limit (site, key, text, field, error);
    case VALUE_SPAN:
        return value_span (text, field, error);
    case VALUE_MONTH:
        return set_month (text, field, error);
    case VALUE_ZONE:
        return set_zone (text, field, error);
    case VALUE_CURRENCY:
        return set_currency (site, text, error);
    case VALUE_WORD:
        return set_word (key, text, field, error);
    case VALUE_SALVAGE:
        return set_salvage (key, text, entry, error);
    case VALUE_SLICES:
        return set_slices (text, field, error);
    case VALUE_DAYS:
        return set_days (text, field, error);
    case VALUE_HOURS_OF_DAY:
        return set_hours (text, field, error);
    case VALUE_NUMBERS:
        return set_numbers (text, field, error);
    case VALUE_REVALUE:
        return set_revalue (key, text, entry, error);
    case VALUE_SHARES:
    case VALUE_FUNDING:
    case VALUE_MAP:
    case VALUE_ENTRIES:
        break;
    }
    return gl_error (error, "must be %s", schema_type_text (key->type));
}

int value_add_share (share_list_t *list, const char *name, const char *text,
                     gl_error_t *error)
{
    site_share_t *share;
    mpq_t sum;
    bool over;

    if (check_text (name, error) < 0)
        return -1;
    share = GL_APPEND (list->item, list->count);
    share->name = xstrdup (name);
    mpq_init (share->share);
    if (!text)
        return 0;
    if (exact_parse_ratio (text, share->share, error) < 0)
        return -1;
    if (mpq_sgn (share->share) < 0)
        return gl_error (error, "the share '%s' is below 0", text);
    mpq_init (sum);
    for (size_t i = 0; i < list->count; i++)
        mpq_add (sum, sum, list->item[i].share);
    over = mpq_cmp_ui (sum, 1, 1) > 0;
    mpq_clear (sum);
    if (over)
        return gl_error (error, "the shares add up to more than 100%%");
    return 0;
}
