#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/calendar.h"
#include "base/exact.h"
#include "base/memory.h"
#include "config/config.h"
#include "import/imports.h"
#include "month/periods.h"
#include "sites.h"

#define HOUR 3600
#define DAY (24 * HOUR)

#define PICK(chance, ...)                                \
    (((const char *const[]){__VA_ARGS__})[chance_below ( \
        chance,                                          \
        sizeof ((const char *const[]){__VA_ARGS__}) / sizeof (char *))])

/* --- the calendar --------------------------------------------------------- */

/* Months in which clocks are switched, a year ends, or nothing happens. */
static const struct {
    const char *zone;
    civil_t first;
} calendars[] = {
    {"UTC", {2026, 4, 1, 0, 0, 0}},
    {"America/New_York", {2026, 10, 1, 0, 0, 0}},
    {"Europe/Oslo", {2026, 10, 1, 0, 0, 0}},
    {"Asia/Kolkata", {2026, 11, 1, 0, 0, 0}},
    {"Australia/Lord_Howe", {2026, 3, 1, 0, 0, 0}},
    {"America/New_York", {2027, 1, 1, 0, 0, 0}},
};

static void make_calendar (made_t *m, chance_t *c)
{
    size_t at = chance_below (c, sizeof (calendars) / sizeof (*calendars));
    civil_t first = calendars[at].first;
    gl_error_t error;

    m->zone = zone_open (calendars[at].zone, &error);
    if (!m->zone) {
        fprintf (stderr, "%s\n", error.text);
        exit (1);
    }
    for (int i = 0; i < STAGES; i++) {
        civil_t month = civil_add_months (first, i);
        m->period[i] = zone_unit (m->zone, CALENDAR_MONTH,
                                  zone_instant (m->zone, &month));
        m->as_of[i] = m->period[i].end + (int64_t)chance_below (c, 5 * DAY);
        periods_month_of (&(site_t){.zone = m->zone}, m->period[i].start,
                          m->month[i]);
        m->kept[i] = chance_percent (c, 30);
    }
}

/* "2026-10-17" of the three months, or of one of them. */
static const char *some_day (const made_t *m, chance_t *c, int from, int to,
                             char text[11])
{
    int64_t start = m->period[from].start, end = m->period[to].end;
    int64_t at = start + (int64_t)chance_below (c, (uint64_t)(end - start));
    char stamp[ZONE_STAMP_SIZE];

    zone_unit_name (m->zone, CALENDAR_DAY,
                    zone_unit (m->zone, CALENDAR_DAY, at).start, stamp);
    snprintf (text, 11, "%.10s", stamp);
    return text;
}

/* --- the configuration ------------------------------------------------------ */

static part_t *add (made_t *m, part_kind_t kind)
{
    part_t *part
        = &m->part[m->count < SITE_PARTS_MAX ? m->count++ : SITE_PARTS_MAX - 1];

    free (part->text);
    free (part->otherwise);
    *part = (part_t){.kind = kind};
    return part;
}

static void add_text (made_t *m, part_kind_t kind, char *text)
{
    add (m, kind)->text = text;
}

static unsigned below (chance_t *c, unsigned count)
{
    return (unsigned)chance_below (c, count);
}

/* A price or amount as the currency has it, or finer. */
static const char *money (const made_t *m, chance_t *c, unsigned most,
                          char text[24])
{
    if (m->digits == 0)
        snprintf (text, 24, "%u", 1 + below (c, most * 100));
    else
        snprintf (text, 24, "%u.%02u", below (c, most), 1 + below (c, 99));
    return text;
}

static void make_head (made_t *m, chance_t *c)
{
    static const struct {
        const char *name;
        int digits;
    } currencies[] = {{"USD", 2}, {"USD", 2}, {"JPY", 0}, {"BHD", 3}};
    size_t currency = chance_below (c, 4);
    char live[32] = "";

    m->digits = currencies[currency].digits;
    m->currency = currencies[currency].name;
    if (chance_percent (c, 70))
        snprintf (live, sizeof (live), ", go_live: %s-01", m->month[0]);
    m->head = xasprintf (
        "ledger: {timezone: %s, currency: %s, fiscal_year: %02u-01%s}\n"
        "policy: {idle: %s, wckey_is_project: yes%s%s%s}\n"
        "clusters: [{name: lab}]\n",
        zone_name (m->zone), currencies[currency].name, 1 + below (c, 12), live,
        PICK (c, "explicit", "explicit", "in-rate", "proportional", "uniform",
              "none"),
        PICK (c, "", "", ", credits: [NODE_FAIL]",
              ", credits: [NODE_FAIL], credit_cap: 2h"),
        PICK (c, "", "", ", minimum: 1h", ", increment: 15m"),
        PICK (c, "", "", ", grace: 10m"));
}

static const struct {
    const char *name;
    const char *text;
} pools[] = {
    {"big", "nodes: \"g[1-2]\", gpu: H100-SXM5-80GB, gpus_per_node: 8"},
    {"old", "nodes: o1, gpu: A100-SXM4-80GB, gpus_per_node: 4"},
    {"cpus", "nodes: \"c1,o1\", resource: cpu, cpus_per_node: 64"},
};

static void make_pools (made_t *m, chance_t *c, const char *bill[3])
{
    bool cpus = chance_percent (c, 40);

    for (size_t i = 0; i < 3; i++) {
        char day[11];
        const char *idle
            = PICK (c, "", "", "", ", idle: proportional", ", idle: in-rate");
        char from[32] = "";
        bill[i] = NULL;
        if (i == 2 && !cpus)
            continue;
        bill[i] = PICK (c, "gpus", "gpus", "max", "sum", "sum-or-memory");
        if (i == 1 && chance_percent (c, 10))
            snprintf (from, sizeof (from), ", from: %s",
                      some_day (m, c, 0, 1, day));
        if (i == 2 && chance_percent (c, 70))
            bill[i] = "gpus";
        add_text (
            m, PART_POOL,
            xasprintf ("{name: %s, %s%s%s%s%s}", pools[i].name, pools[i].text,
                       i == 2 && !strcmp (bill[i], "gpus") ? "" : ", bill: ",
                       i == 2 && !strcmp (bill[i], "gpus") ? "" : bill[i], idle,
                       from));
        if (chance_percent (c, 50))
            add_text (m, PART_COST,
                      xasprintf ("{name: fabric, pool: %s, amount: %u, "
                                 "driver: %s}",
                                 pools[i].name, 1 + below (c, 500),
                                 PICK (c, "month", "gpu_hours")));
    }
}

/* Four teams; one may change its class, one may hand over its account. */
static void make_teams (made_t *m, chance_t *c)
{
    char day[11];

    add_text (m, PART_TEAM,
              xasprintf ("{name: a, accounts: [acc1, acc2]%s%s%s}",
                         PICK (c, "", ", cost_center: CC-1"),
                         PICK (c, "", ", institution: North"),
                         PICK (c, "", "", ", plan: gold")));
    if (chance_percent (c, 25)) {
        some_day (m, c, 0, 2, day);
        add_text (m, PART_TEAM,
                  xasprintf ("{name: b, accounts: [acc3], class: industry, "
                             "to: %s}",
                             day));
        add_text (m, PART_TEAM,
                  xasprintf ("{name: b, accounts: [acc3]%s, from: %s}",
                             PICK (c, "", ", class: academic"), day));
    } else
        add_text (m, PART_TEAM,
                  xasprintf ("{name: b, accounts: [acc3]%s%s}",
                             PICK (c, "", ", class: industry"),
                             PICK (c, "", "", ", surcharge: 10%")));
    if (chance_percent (c, 20)) {
        some_day (m, c, 0, 2, day);
        add_text (m, PART_TEAM,
                  xasprintf ("{name: c, accounts: [acc4], to: %s}", day));
        add_text (m, PART_TEAM,
                  xasprintf ("{name: e, accounts: [acc4], class: academic, "
                             "from: %s}",
                             day));
    } else
        add_text (m, PART_TEAM,
                  xasprintf ("{name: c, accounts: [acc4], class: academic}"));
    add_text (m, PART_TEAM,
              xasprintf ("{name: college, accounts: [acc5], institution: "
                         "South}"));
}

/* The two entries of a team that has another name from a day on, of the text of its
 * only one: its name, or the one before, is what the rest of the site says. */
static void in_two_names (const char *entry, const char *day, bool before,
                          char *ret_entry[2])
{
    int name = (int)strcspn (entry + strlen ("{name: "), ",");
    const char *is = entry + strlen ("{name: "), *rest = is + name;
    int length = (int)strcspn (rest, "}");
    const char *was = before ? MADE_RENAMED : "",
               *then = before ? "" : MADE_RENAMED;

    ret_entry[0] = xasprintf ("{name: %.*s%s%.*s, to: %s}", name, is, was,
                              length, rest, day);
    ret_entry[1] = xasprintf ("{name: %.*s%s%.*s, aliases: [%.*s%s], from: %s}",
                              name, is, then, length, rest, name, is, was, day);
}

static bool is_undated (const part_t *part)
{
    return part->kind == PART_TEAM && !part->left_out
           && !strstr (part->text, " to: ") && !strstr (part->text, " from: ");
}

/* One team may be renamed, on any day. Its chance is its own, so that the rest of
 * the site is the same. */
static void rename_team (made_t *m)
{
    chance_t chance = chance_new (m->seed ^ 0x7e), *c = &chance;
    char day[11], *entry[2];

    for (size_t i = 0; i < m->count; i++) {
        if (!is_undated (&m->part[i]) || !chance_percent (c, 15))
            continue;
        in_two_names (m->part[i].text, some_day (m, c, 0, 2, day),
                      chance_percent (c, 50), entry);
        free (m->part[i].text);
        m->part[i].text = entry[0];
        add_text (m, PART_TEAM, entry[1]);
        return;
    }
}

/* What fits jobs of a pool otherwise; one each. */
static char *other_rate (const made_t *m, chance_t *c, size_t pool,
                         unsigned which)
{
    char price[24], day[11], dated[32] = "";
    const char *gpus = pool == 2 ? "cpus" : "gpus";

    if (which < 5 && chance_percent (c, 25))
        snprintf (dated, sizeof (dated), ", %s: %s", PICK (c, "from", "to"),
                  some_day (m, c, 0, 2, day));
    return xasprintf ("{pool: %s, %s%s%s, per_%s_hour: %s%s}", pools[pool].name,
                      which == 5 ? gpus : "",
                      which == 5 ? PICK (c, ": 2", ": 2-4", ": 4+") : "",
                      which == 0   ? "plan: gold"
                      : which == 1 ? "class: industry"
                      : which == 2 ? "partition: fast"
                      : which == 3 ? "qos: high"
                      : which == 4 ? "reservation: course"
                                   : "",
                      pool == 2 ? "cpu" : "gpu", money (m, c, 6, price), dated);
}

static void make_rates (made_t *m, chance_t *c, const char *const bill[3])
{
    bool shared = chance_percent (c, 15);
    unsigned unit = 1 + below (c, 3);

    for (size_t i = 0; i < 3; i++) {
        char price[24], own[160] = "", tiers[200] = "", day[11];
        const char *hour = i == 2 ? "per_cpu_hour" : "per_gpu_hour";
        part_t *rate;
        if (!bill[i])
            continue;
        if (!shared && !strcmp (bill[i], "gpus") && chance_percent (c, 15)) {
            add_text (m, PART_COST,
                      xasprintf ("{name: support, pool: %s, amount: 70, "
                                 "driver: month}",
                                 pools[i].name));
            continue; /* at full cost */
        }
        if (strcmp (bill[i], "gpus") != 0)
            snprintf (own, sizeof (own),
                      i == 2 ? ", per_gb_hour: 0.003"
                             : ", per_cpu_hour: 0.05, per_gb_hour: 0.004%s",
                      PICK (c, "", ", gb: decimal", ", included_cpus: 4",
                            ", included_gb: 2, steps_by: job, gb_steps: "
                            "[{above: 8, per_gb_hour: 0.02}]"));
        if (shared && i < 2)
            snprintf (tiers, sizeof (tiers),
                      ", tiers_by: spend, tiers_pools: [big, old], tiers: "
                      "[{above: %u, per_gpu_hour: %zu}]",
                      50 * unit, (i + 1) * 2);
        else if (chance_percent (c, 20))
            snprintf (tiers, sizeof (tiers),
                      ", tiers_by: %s, tiers: [{above: %u, %s: 0.5}]",
                      i == 2 ? "spend" : PICK (c, "spend", "gpu_hours"),
                      1 + below (c, 300), hour);
        if (shared && i < 2)
            snprintf (price, sizeof (price), "%zu", (i + 1) * 3);
        else
            money (m, c, 4, price);
        if (!shared && !tiers[0] && chance_percent (c, 15)) {
            some_day (m, c, 0, 2, day);
            add_text (m, PART_RATE,
                      xasprintf ("{pool: %s, %s: %s%s, to: %s}", pools[i].name,
                                 hour, price, own, day));
            add_text (m, PART_RATE,
                      xasprintf ("{pool: %s, %s: %s%s, from: %s}",
                                 pools[i].name, hour, money (m, c, 4, price),
                                 own, day));
        } else {
            rate = add (m, PART_RATE);
            rate->text
                = xasprintf ("{pool: %s, %s: %s%s%s%s}", pools[i].name, hour,
                             price, own, tiers,
                             i < 2 ? PICK (c, "", "", "", ", minimum: 1.50",
                                           ", minimum_gpu_hours: 1")
                                   : "");
            if (!shared && !tiers[0] && chance_percent (c, 10))
                rate->otherwise
                    = xasprintf ("{pool: %s, %s: %s%s}", pools[i].name, hour,
                                 money (m, c, 4, price), own);
            for (unsigned k = 0; k < 6 && !shared; k++)
                if (chance_percent (c, 12))
                    add_text (m, PART_RATE, other_rate (m, c, i, k));
        }
    }
    if (chance_percent (c, 20))
        add_text (m, PART_QOS,
                  xasprintf ("{name: low, %s}",
                             PICK (c, "multiplier: 0.5", "subsidy: 50%",
                                   "subsidy: 100%")));
    if (chance_percent (c, 20))
        add_text (m, PART_ENTITLEMENT,
                  xasprintf ("{team: %s, pool: big, %s, unused: %s%s}",
                             PICK (c, "a", "b"),
                             PICK (c, "gpu_hours: 20", "gpus: 1", "share: 10%"),
                             PICK (c, "expire", "carry"),
                             PICK (c, "", ", per_gpu_hour: 0.70",
                                   ", per_month: 33.33")));
    if (chance_percent (c, 15))
        add_text (m, PART_TAX, xasprintf ("{name: VAT, percent: 19%%}"));
}

/* --- settlement --------------------------------------------------------------- */

static const char *whom (chance_t *c)
{
    return PICK (c, "", "", ", teams: [a]", ", teams: [b]",
                 ", teams: [a, b, c]", ", classes: [industry]",
                 ", classes: [academic, industry]", ", pools: [big]",
                 ", pools: [old]", ", projects: [x]", ", qos: [high]",
                 ", partitions: [fast]", ", accounts: [acc1]",
                 ", teams: [a], pools: [big]");
}

static const char *per (chance_t *c)
{
    return PICK (c, "", "", ", per: quarter", ", per: year", ", per: once",
                 ", per: quarter, prorated: yes", ", per: year, prorated: yes",
                 ", prorated: yes");
}

static const char *order (chance_t *c)
{
    return PICK (c, "", "", ", order: cheapest", ", order: proportional");
}

static bool has_cpus (const made_t *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->part[i].kind == PART_POOL
            && strstr (m->part[i].text, "resource: cpu"))
            return true;
    return false;
}

/* All of a rule but its name and dates. */
static char *rule (const made_t *m, chance_t *c)
{
    char amount[24];
    const char *most = PICK (
        c, "", "", "", ", first_months: 1", ", first_months: 2",
        ", unused: carry", ", unused: carry_once", ", together: yes",
        ", together: yes, unused: carry", ", share: 33%", ", share: 87.5%",
        ", each: user", ", each: user, together: yes",
        ", each: user, unused: carry", ", each: user, unused: carry_once",
        ", each: user, first_months: 2", ", each: user, share: 60%");
    const char *who = whom (c);
    const char *hours = has_cpus (m) && !strstr (who, "pools:")
                            ? PICK (c, "amount", "gpu_hours", "cpu_hours")
                            : PICK (c, "amount", "amount", "gpu_hours");
    const char *of
        = PICK (c, "", "", "", "", ", of: [charges]", ", of: [services, fees]",
                ", of: [purchases]", ", of: [charges, sponsored, services]");

    money (m, c, 200, amount);
    switch (below (c, 9)) {
    case 0:
        return xasprintf (
            "rule: waiver%s%s%s", whom (c), of,
            PICK (c, "", "", ", share: 17%", ", first_months: 1"));
    case 1:
        return xasprintf (
            "rule: fee, amount: %s%s%s", amount,
            PICK (c, "", ", teams: [a]", ", teams: [b, c]",
                  ", classes: [academic]"),
            PICK (c, ", each: user", ", each: project", ", each: account",
                  ", per: year", ", per: quarter, quantity: 3",
                  ", per: year, prorated: yes", ", prorated: yes",
                  ", per: once", ", each: node, per: quarter", ""));
    case 2:
        return xasprintf ("rule: minimum, amount: %s%s%s", amount, whom (c),
                          per (c));
    case 3:
        return xasprintf ("rule: cap, amount: %s%s%s%s%s", amount, who, per (c),
                          of, PICK (c, "", "", ", each: user"));
    case 4:
    case 5:
        if (chance_percent (c, 10))
            return xasprintf ("rule: grant, %s: %s%s, per: year, unused: "
                              "expire_evenly%s",
                              hours, amount, who, PICK (c, "", ", each: user"));
        return xasprintf ("rule: grant, %s: %s%s%s%s%s%s", hours, amount, who,
                          per (c), order (c), most, of);
    case 6:
        return xasprintf ("rule: sponsor, payer: college, %s: %s%s%s%s%s",
                          hours, amount, who, per (c), order (c), most);
    case 7:
        return xasprintf ("rule: sponsor, payer: %s%s%s%s",
                          PICK (c, "college", "c"), whom (c), of,
                          PICK (c, "", ", share: 25%", ", first_months: 2"));
    default:
        return xasprintf ("rule: split%s, split: {X: 12.5%%, Y: 50%%, Z: "
                          "37.5%%}",
                          whom (c));
    }
}

static char *prepaid (const made_t *m, chance_t *c)
{
    char amount[24], other[24], first[11], second[11];

    return xasprintf ("rule: prepaid%s%s, deposits: [{on: %s, amount: %s, "
                      "team: %s}, {on: %s, amount: %s, team: %s}]%s",
                      whom (c), order (c), some_day (m, c, 0, 0, first),
                      money (m, c, 300, amount), PICK (c, "a", "b"),
                      some_day (m, c, 1, 2, second), money (m, c, 100, other),
                      PICK (c, "a", "college"),
                      PICK (c, "", "", ", refund: yes"));
}

static void make_rule (made_t *m, chance_t *c, unsigned number)
{
    bool fund = chance_percent (c, 12);
    char *what = fund ? prepaid (m, c) : rule (m, c);
    char first[11], second[11], step[24] = "";
    part_t *part;

    if (chance_percent (c, 15))
        snprintf (step, sizeof (step), ", step: %u", 1 + below (c, 90));
    switch (fund ? 0 : below (c, 8)) {
    case 0: /* from a day on, to a day, or between two */
        if (!fund)
            add_text (m, PART_SETTLEMENT,
                      xasprintf ("{name: r%u, %s%s, from: %s}", number, what,
                                 step, some_day (m, c, 0, 2, first)));
        else
            add_text (m, PART_SETTLEMENT,
                      xasprintf ("{name: r%u, %s%s}", number, what, step));
        break;
    case 1:
        add_text (m, PART_SETTLEMENT,
                  xasprintf ("{name: r%u, %s%s, to: %s}", number, what, step,
                             some_day (m, c, 0, 2, first)));
        break;
    case 2: /* another amount or other charges from a day on */
        some_day (m, c, 0, 2, first);
        add_text (
            m, PART_SETTLEMENT,
            xasprintf ("{name: r%u, %s%s, to: %s}", number, what, step, first));
        add_text (m, PART_SETTLEMENT,
                  xasprintf ("{name: r%u, %s%s, from: %s}", number, what, step,
                             first));
        break;
    case 3:
        some_day (m, c, 0, 0, first);
        add_text (m, PART_SETTLEMENT,
                  xasprintf ("{name: r%u, %s%s, from: %s, to: %s}", number,
                             what, step, first, some_day (m, c, 1, 2, second)));
        break;
    default:
        part = add (m, PART_SETTLEMENT);
        part->text = xasprintf ("{name: r%u, %s%s}", number, what, step);
        if (chance_percent (c, 10)) {
            char *other = rule (m, c);
            part->otherwise = xasprintf ("{name: r%u, %s}", number, other);
            free (other);
        }
    }
    free (what);
}

/* One may be known from the last stage on alone. */
static void make_outage (made_t *m, chance_t *c)
{
    char day[11];
    const char *more = PICK (c, "", ", pools: [big]", ", nodes: g1",
                             ", killed: [NODE_FAIL]");
    part_t *part = add (m, PART_OUTAGE);
    char *outage;

    some_day (m, c, 0, 1, day);
    outage = xasprintf ("{name: cooling, from: \"%s 03:10\", to: \"%s "
                        "21:40\"%s}",
                        day, day, more);
    part->text = outage;
    if (chance_percent (c, 40)) {
        part->text = xstrdup ("{name: cooling, from: \"2020-01-01 00:00\", "
                              "to: \"2020-01-01 01:00\"}");
        part->otherwise = outage;
    }
}

/* --- jobs --------------------------------------------------------------------- */

/* Facts are known at the first stage after they happened, or later. */
static void set_stage (const made_t *m, chance_t *c, part_t *part, int64_t at)
{
    int stage = 0;

    while (stage + 1 < STAGES && at > m->as_of[stage])
        stage++;
    part->stage = stage;
    if (stage + 1 < STAGES && chance_percent (c, 25)) {
        part->late = true;
        part->stage
            = stage + 1 + (int)below (c, (unsigned)(STAGES - 1 - stage));
        part->undone = part->stage + 1 < STAGES && chance_percent (c, 30);
    }
}

static void make_job (made_t *m, chance_t *c, uint64_t id)
{
    static const struct {
        const char *node;
        const char *gres;
    } shapes[] = {{"g1", "gpu=1,gpu:h100=1"},
                  {"g1", "gpu=2,gpu:h100=2"},
                  {"g2", "gpu=4,gpu:h100=4"},
                  {"g[1-2]", "gpu=3,gpu:h100=3"},
                  {"o1", "gpu=1"},
                  {"o1", "gpu=2"},
                  {"c1", ""},
                  {"o1", ""}};
    size_t shape = chance_below (c, sizeof (shapes) / sizeof (*shapes));
    int64_t start, span = m->period[STAGES - 1].end - m->period[0].start;
    bool ends_month = chance_percent (c, 30);
    part_t *part = add (m, PART_JOB);

    start = m->period[0].start - DAY
            + (int64_t)chance_below (c, (uint64_t)(span + DAY));
    if (ends_month)
        start = m->period[chance_below (c, STAGES)].start
                - (int64_t)chance_below (c, 5 * HOUR);
    part->segment = (segment_t){
        .cluster = "lab",
        .id_job = id,
        .time_submit = start - 60,
        .time_start = start,
        .time_end
        = start + 1
          + (int64_t)chance_below (c, below (c, 4) ? 10 * HOUR : 3 * DAY),
        .time_limit = SECONDS_UNKNOWN,
        .suspended = 0,
        .state = chance_percent (c, 15) ? SEGMENT_NODE_FAIL : SEGMENT_COMPLETED,
        .source = SOURCE_SACCT_TEXT,
        .user = PICK (c, "ann", "bob", "cyd"),
        .uid = 1000,
        .account = PICK (c, "acc1", "acc1", "acc2", "acc3", "acc3", "acc4",
                         "acc5", "acc9"),
        .partition = PICK (c, "p", "p", "fast"),
        .qos = PICK (c, "normal", "high", "low"),
        .wckey = PICK (c, "x", "y", NULL),
        .reservation = PICK (c, NULL, NULL, NULL, "course"),
        .nodelist = shapes[shape].node,
        .gres = shapes[shape].gres,
        .gpu_asked = shapes[shape].gres[0] != '\0',
        .cpus = 1 + chance_below (c, 24),
        .memory_mb = 1024 * (1 + chance_below (c, 200)),
        .nodes = 1 + (shape == 3),
        .array_task = TASK_NONE,
        .het_offset = TASK_NONE,
        .restart_count = -1,
    };
    set_stage (m, c, part, start);
}

static void make_service (made_t *m, chance_t *c, unsigned number)
{
    part_t *part = add (m, PART_SERVICE);
    char day[11];
    int month = (int)below (c, STAGES);
    long quantity = 1 + (long)below (c, 20), cents = 1 + (long)below (c, 3000);

    if (chance_percent (c, 10))
        quantity = -quantity;
    some_day (m, c, month, month, day);
    part->text = xstrdup (day);
    part->numbers[0] = xasprintf ("%ld", quantity);
    part->numbers[1]
        = m->digits == 0
              ? xasprintf ("%ld", cents)
              : xasprintf ("%ld.%0*ld", cents / (m->digits == 2 ? 100 : 1000),
                           m->digits, cents % (m->digits == 2 ? 100 : 1000));
    part->numbers[2] = xasprintf ("%ld", quantity * cents);
    part->otherwise = xasprintf ("row-%u", number);
    part->service = (service_t){
        .source = PICK (c, "netapp", "flexlm"),
        .reference = part->otherwise,
        .day = part->text,
        .service = PICK (c, "storage", "licences"),
        .quantity = part->numbers[0],
        .unit = "units",
        .price = part->numbers[1],
        .amount = part->numbers[2],
        .cost_object = PICK (c, NULL, NULL, "P-1"),
        .charge = quantity < 0 ? PICK (c, NULL, "credit", "adjustment")
                               : PICK (c, NULL, NULL, "one-time", "recurring"),
        .user = PICK (c, NULL, NULL, "ann"),
        .project = PICK (c, NULL, NULL, "x"),
        .file = "charges.csv",
    };
    if (chance_percent (c, 50))
        part->service.team = PICK (c, "a", "b", "college");
    else
        part->service.account = PICK (c, "acc1", "acc3", "acc4");
    set_stage (m, c, part, m->period[month].end - 1);
}

/* --- energy ------------------------------------------------------------------- */

/* Draws of its own, so that the other parts of a seed stay. A factor may change on a
 * day, and one of two may be missing. */
static void make_energy (made_t *m)
{
    chance_t chance = chance_new (m->seed ^ 0xc0), *c = &chance;
    char day[11];

    some_day (m, c, 0, 2, day);
    if (chance_percent (c, 60))
        add_text (m, PART_GRID,
                  xasprintf ("{name: before, g_per_kwh: %u.%u, source: s, to: "
                             "%s}",
                             below (c, 600), below (c, 10), day));
    if (chance_percent (c, 60))
        add_text (m, PART_GRID,
                  xasprintf ("{name: after, g_per_kwh: %u, source: t, from: %s}",
                             below (c, 600), day));
    for (size_t i = 0; i < 2; i++)
        if (chance_percent (c, 40))
            add_text (m, PART_EMBODIED,
                      xasprintf ("{pool: %s, kg_per_gpu: %u, life_months: %u, "
                                 "source: u}",
                                 pools[i].name, 1 + below (c, 300),
                                 1 + below (c, 90)));
    if (chance_percent (c, 50))
        return;
    add_text (m, PART_TARIFF, xasprintf ("{name: flat, per_kwh: 0.1}"));
    add_text (m, PART_POWER,
              xasprintf ("{pool: %s, watts_per_gpu: %u, node_watts: %u, pue: "
                         "1.%u, tariff: flat}",
                         pools[below (c, 2)].name, 1 + below (c, 700),
                         below (c, 2000), below (c, 10)));
}

/* --- all of it ----------------------------------------------------------------- */

void made_new (made_t *m, uint64_t seed)
{
    chance_t chance = chance_new (seed), *c = &chance;
    const char *bill[3];
    unsigned rules = 1 + below (c, 5), jobs = 2 + below (c, 14),
             services = below (c, 5);

    memset (m, 0, sizeof (*m));
    m->seed = seed;
    make_calendar (m, c);
    make_head (m, c);
    make_pools (m, c, bill);
    make_teams (m, c);
    rename_team (m);
    make_rates (m, c, bill);
    if (chance_percent (c, 30))
        make_outage (m, c);
    for (unsigned i = 0; i < rules; i++)
        make_rule (m, c, i);
    for (unsigned i = 0; i < jobs; i++)
        make_job (m, c, 1 + i);
    make_energy (m);
    for (size_t i = m->count; i > 0;
         i--) /* the ledger begins in the first month */
        if (m->part[i - 1].kind == PART_JOB) {
            part_t *first = &m->part[i - 1];
            first->segment.time_start = m->period[0].start + DAY;
            first->segment.time_end = first->segment.time_start + HOUR;
            first->segment.time_submit = first->segment.time_start;
            first->stage = 0;
            first->late = first->undone = false;
            break;
        }
    for (unsigned i = 0; i < services; i++)
        make_service (m, c, i);
}

void made_free (made_t *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free (m->part[i].text);
        free (m->part[i].otherwise);
        for (size_t k = 0; k < 3; k++)
            free (m->part[i].numbers[k]);
    }
    free (m->head);
    zone_close (m->zone);
    memset (m, 0, sizeof (*m));
}

/* --- as text ------------------------------------------------------------------- */

static const char *const lists[] = {
    [PART_POOL] = "pools",     [PART_TEAM] = "teams",
    [PART_COST] = "costs",     [PART_RATE] = "rates",
    [PART_QOS] = "qos",        [PART_ENTITLEMENT] = "entitlements",
    [PART_TAX] = "taxes",      [PART_SETTLEMENT] = "settlement",
    [PART_OUTAGE] = "outages", [PART_TARIFF] = "tariffs",
    [PART_POWER] = "power",    [PART_GRID] = "grid",
    [PART_EMBODIED] = "embodied",
};

void made_yaml (const made_t *m, int stage, bool shuffled, buffer_t *out)
{
    buffer_add_text (out, m->head);
    for (size_t kind = 0; kind < PART_JOB; kind++) {
        bool any = false;
        for (size_t i = 0; i < m->count; i++) {
            const part_t *part = &m->part[shuffled ? m->count - 1 - i : i];
            if (part->kind != kind || part->left_out)
                continue;
            if (!any)
                buffer_printf (out, "%s:\n", lists[kind]);
            any = true;
            buffer_printf (out, "  - %s\n",
                           stage + 1 == STAGES && part->otherwise
                               ? part->otherwise
                               : part->text);
        }
    }
}

site_t *made_site (const made_t *m, int stage, bool shuffled, gl_error_t *error)
{
    BUFFER_AUTO text = BUFFER_INIT;
    site_t *site;

    made_yaml (m, stage, shuffled, &text);
    return config_load_text ("site.yaml", buffer_text (&text), text.length,
                             &site, error)
                   < 0
               ? NULL
               : site;
}

site_t *made_in_two (const made_t *m, const char *rule, chance_t *chance,
                     char ret_day[11], gl_error_t *error)
{
    BUFFER_AUTO yaml = BUFFER_INIT;
    BUFFER_AUTO text = BUFFER_INIT;
    GL_AUTOFREE char *head = xasprintf ("  - {name: %s, ", rule);
    const char *entry, *end;
    site_t *site;

    some_day (m, chance, 0, STAGES - 1, ret_day);
    made_yaml (m, STAGES - 1, false, &yaml);
    entry = strstr (buffer_text (&yaml), head);
    end = strchr (entry, '\n') - 1;
    buffer_add (&text, yaml.data, (size_t)(entry - yaml.data));
    buffer_printf (&text, "%.*s, to: %s}\n", (int)(end - entry), entry,
                   ret_day);
    buffer_printf (&text, "%.*s, from: %s%s", (int)(end - entry), entry,
                   ret_day, end);
    return config_load_text ("two.yaml", buffer_text (&text), text.length,
                             &site, error)
                   < 0
               ? NULL
               : site;
}

site_t *made_with_names (const made_t *m, chance_t *chance, char ret_name[16],
                         gl_error_t *error)
{
    BUFFER_AUTO yaml = BUFFER_INIT;
    BUFFER_AUTO text = BUFFER_INIT;
    size_t first = below (chance, 8);
    GL_AUTOFREE char *day
        = xasprintf ("%s-01", m->month[1 + below (chance, STAGES - 1)]);
    bool before = chance_percent (chance, 50);
    site_t *site;

    made_yaml (m, STAGES - 1, false, &yaml);
    for (size_t i = 0; i < m->count; i++) {
        const part_t *part = &m->part[(first + i) % m->count];
        const char *at;
        char *entry[2];
        if (!is_undated (part))
            continue;
        at = strstr (buffer_text (&yaml), part->text);
        in_two_names (part->text, day, before, entry);
        buffer_printf (&text, "%.*s%s\n  - %s%s", (int)(at - yaml.data),
                       yaml.data, entry[0], entry[1], at + strlen (part->text));
        snprintf (ret_name, 16, "%.*s", (int)strcspn (part->text + 7, ","),
                  part->text + 7);
        free (entry[0]);
        free (entry[1]);
        break;
    }
    return text.length == 0
                   || config_load_text ("names.yaml", buffer_text (&text),
                                        text.length, &site, error)
                          < 0
               ? NULL
               : site;
}

/* --- into a store ---------------------------------------------------------------- */

/* Is in the store at the stage. */
static bool is_known (const part_t *part, int stage)
{
    return !part->left_out && part->stage <= stage
           && !(part->undone && stage > part->stage);
}

static int put_job (const made_t *m, int stage, const part_t *part,
                    store_t *store, imports_record_t *record, gl_error_t *error)
{
    segment_t s = part->segment;

    s.observed_at = m->as_of[stage];
    if (s.time_end > s.observed_at) {
        s.time_end = 0;
        s.state = SEGMENT_RUNNING;
    }
    return imports_record_before (record, &s, error) < 0
                   || store_put_segment (store, &s, NULL, error) < 0
                   || imports_record_after (record, &s, error) < 0
               ? -1
               : 0;
}

struct putting {
    const made_t *m;
    int stage;
    bool first;
    bool taken_back; /* only what is taken back later, or only what is not */
    uint64_t import;
};

/* What the import has: jobs go on from stage to stage. */
static bool is_put (const struct putting *p, const part_t *part)
{
    if (!is_known (part, p->stage) || part->undone != p->taken_back)
        return false;
    return p->first || part->stage == p->stage
           || (part->kind == PART_JOB
               && part->segment.time_end > p->m->as_of[p->stage - 1]);
}

static int put_all (store_t *store, void *arg, gl_error_t *error)
{
    struct putting *p = arg;
    const made_t *m = p->m;
    imports_record_t *record = imports_record_new (store, error);
    store_import_t what = {.time = m->as_of[p->stage],
                           .who = (char *)"ann",
                           .files = (char *)"f",
                           .clusters = (char *)"lab",
                           .zone = (char *)"UTC",
                           .as_of = m->as_of[p->stage]};
    bool services = false;
    uint64_t id = 0;
    int rc = record ? 0 : -1;

    for (size_t i = 0; i < m->count && rc == 0; i++) {
        const part_t *part = &m->part[p->first ? m->count - 1 - i : i];
        if (part->kind == PART_JOB && is_put (p, part))
            rc = put_job (m, p->stage, part, store, record, error);
        services = services || (part->kind == PART_SERVICE && is_put (p, part));
    }
    if (rc == 0)
        rc = store_put_as_of (store, "lab", m->as_of[p->stage], error);
    if (rc == 0)
        rc = imports_record_end (record, &what, &id, error);
    imports_record_free (record);
    if (rc == 0 && services && id == 0) {
        store_import_t *imports;
        size_t count;
        rc = store_imports (store, &imports, &count, error);
        if (rc == 0) {
            what.id = id = count + 1;
            what.digest[0] = (uint8_t)id;
            rc = store_import_add (store, &what, error);
            store_imports_free (imports, count);
        }
    }
    for (size_t i = 0; i < m->count && rc == 0; i++) {
        const part_t *part = &m->part[p->first ? m->count - 1 - i : i];
        service_t service = part->service;
        if (part->kind != PART_SERVICE || !is_put (p, part))
            continue;
        service.import = id;
        rc = store_put_service (store, &service, error);
    }
    p->import = id;
    return rc;
}

/* Late things that are taken back again are of an import of their own. */
static uint64_t undone_import (store_t *store, gl_error_t *error)
{
    store_import_t *imports;
    size_t count;
    uint64_t id = 0;

    if (store_imports (store, &imports, &count, error) < 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (imports[i].undone == 0)
            id = imports[i].id;
    store_imports_free (imports, count);
    return id;
}

int made_put (const made_t *m, int stage, bool first, store_t *store,
              gl_error_t *error)
{
    struct putting p = {.m = m, .stage = stage, .first = first};
    bool back = false, again = false;

    for (size_t i = 0; i < m->count; i++) {
        const part_t *part = &m->part[i];
        back = back
               || (!part->left_out && part->undone && stage > 0
                   && part->stage == stage - 1);
        again = again
                || (!part->left_out && part->undone && part->stage == stage);
    }
    if (!first && back) {
        imports_undo_t undo = {.id = undone_import (store, error),
                               .time = m->as_of[stage],
                               .who = "ann",
                               .zone = m->zone};
        uint64_t segments, services;
        if (imports_undo (store, &undo, &segments, &services, error) < 0)
            return -1;
    }
    if (store_transaction (store, put_all, &p, error) < 0)
        return -1;
    p.taken_back = true;
    return again ? store_transaction (store, put_all, &p, error) : 0;
}

/* --- for people ------------------------------------------------------------------- */

static void print_time (const made_t *m, FILE *out, int64_t at, char end)
{
    char stamp[ZONE_STAMP_SIZE];

    zone_stamp (m->zone, at, stamp);
    fprintf (out, "%.19s%c", stamp, end);
}

void made_print (const made_t *m)
{
    BUFFER_AUTO text = BUFFER_INIT;

    made_yaml (m, 0, false, &text);
    for (char *line = text.data, *end; line && *line; line = end + 1) {
        end = strchr (line, '\n');
        printf ("#   %.*s\n", (int)(end - line), line);
    }
    for (size_t i = 0; i < m->count; i++) {
        const part_t *p = &m->part[i];
        const segment_t *s = &p->segment;
        if (p->left_out)
            continue;
        if (p->kind < PART_JOB && p->otherwise)
            printf ("#   later: %s\n", p->otherwise);
        if (p->kind < PART_JOB)
            continue;
        printf ("#   known %s%s%s ", m->month[p->stage], p->late ? " late" : "",
                p->undone ? " undone" : "");
        if (p->kind == PART_SERVICE) {
            printf ("%s %s %s%s %s %s\n", p->service.source, p->service.day,
                    p->service.team ? "team " : "account ",
                    p->service.team ? p->service.team : p->service.account,
                    p->service.service, p->service.amount);
            continue;
        }
        printf ("job %" PRIu64 " ", s->id_job);
        print_time (m, stdout, s->time_start, ' ');
        print_time (m, stdout, s->time_end, ' ');
        printf ("%s %s %s %s %s %s %s \"%s\" cpus %" PRIu64 " %s\n", s->user,
                s->account, s->partition, s->qos, s->wckey ? s->wckey : "-",
                s->reservation ? s->reservation : "-", s->nodelist, s->gres,
                s->cpus, segment_state_name (s->state));
    }
}

/* --- files --------------------------------------------------------------------------- */

static FILE *open_file (const char *directory, const char *name, int stage)
{
    GL_AUTOFREE char *path = xasprintf ("%s/%s.%d", directory, name, stage);

    return fopen (path, "w");
}

static void write_job (const made_t *m, int stage, const part_t *part,
                       FILE *out)
{
    const segment_t *s = &part->segment;
    const char *gres = s->gres;
    bool open = s->time_end > m->as_of[stage];

    fprintf (out, "%" PRIu64 "|", s->id_job);
    print_time (m, out, s->time_submit, '|');
    print_time (m, out, s->time_start, '|');
    if (open)
        fputs ("Unknown|RUNNING|", out);
    else {
        print_time (m, out, s->time_end, '|');
        fprintf (out, "%s|", segment_state_name (s->state));
    }
    fprintf (out, "cpu=%" PRIu64, s->cpus);
    while (*gres) {
        size_t length = strcspn (gres, ",");
        fprintf (out, ",gres/%.*s", (int)length, gres);
        gres += length + (gres[length] == ',');
    }
    fprintf (out, ",mem=%" PRIu64 "M,node=%" PRIu64 "|", s->memory_mb,
             s->nodes);
    fprintf (out, "%s|%s|%s|%s|%s|%s|%s|%" PRId64 "\n", s->user, s->account,
             s->partition, s->qos, s->nodelist, s->wckey ? s->wckey : "",
             s->reservation ? s->reservation : "",
             (open ? m->as_of[stage] : s->time_end) - s->time_start);
}

static void write_service (const made_t *m, const part_t *part, FILE *out)
{
    const service_t *s = &part->service;
    mpz_t units;

    mpz_init_set_str (units, s->amount, 10);
    GL_AUTOFREE char *amount = exact_units_text (units, m->digits);
    mpz_clear (units);
    fprintf (out, "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n", s->day,
             s->team ? s->team : "", s->account ? s->account : "", s->service,
             s->quantity, s->unit, s->price, amount, m->currency, s->source,
             s->reference, s->cost_object ? s->cost_object : "",
             s->charge ? s->charge : "", s->user ? s->user : "",
             s->project ? s->project : "");
}

static int write_stage (const made_t *m, int stage, const char *directory)
{
    BUFFER_AUTO yaml = BUFFER_INIT;
    FILE *site = open_file (directory, "gpuledger.yaml", stage),
         *jobs = open_file (directory, "jobs", stage),
         *charges = open_file (directory, "charges.csv", stage),
         *month = open_file (directory, "month", stage);

    if (!site || !jobs || !charges || !month)
        return -1;
    made_yaml (m, stage, false, &yaml);
    fputs (buffer_text (&yaml), site);
    fputs (
        "JobIDRaw|Submit|Start|End|State|AllocTRES|User|Account|Partition|QOS|"
        "NodeList|WCKey|Reservation|ElapsedRaw\n",
        jobs);
    fputs ("date,team,account,service,quantity,unit,unit_price,amount,currency,"
           "source,reference,cost_object,charge,user,project\n",
           charges);
    for (size_t i = 0; i < m->count; i++) {
        const part_t *part = &m->part[i];
        if (part->undone || !is_known (part, stage))
            continue;
        if (part->kind == PART_JOB)
            write_job (m, stage, part, jobs);
        else if (part->kind == PART_SERVICE)
            write_service (m, part, charges);
    }
    fprintf (month, "%s ", m->month[stage]);
    print_time (m, month, m->as_of[stage], '\n');
    return fclose (site) | fclose (jobs) | fclose (charges) | fclose (month);
}

int made_write (const made_t *m, const char *directory)
{
    for (int stage = 0; stage < STAGES; stage++)
        if (write_stage (m, stage, directory) != 0)
            return -1;
    return 0;
}
