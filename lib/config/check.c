#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/address.h"
#include "base/array.h"
#include "base/memory.h"
#include "base/network.h"
#include "base/tag.h"
#include "config/check.h"
#include "gres/mig.h"
#include "gres/nodelist.h"
#include "planning/analysis.h"
#include "site/rate_card.h"

static void *grow (void *array, size_t count, size_t size)
{
    /* doubles whenever the count reaches a power of two */
    if ((count & (count - 1)) == 0)
        array = xreallocarray (array, count ? count * 2 : 1, size);
    return array;
}

void check_add_entry (check_list_t *list, check_entry_t entry)
{
    list->entry = grow (list->entry, list->entry_count, sizeof (entry));
    list->entry[list->entry_count++] = entry;
}

void check_add_reference (check_list_t *list, check_reference_t reference)
{
    list->reference
        = grow (list->reference, list->reference_count, sizeof (reference));
    list->reference[list->reference_count++] = reference;
}

void check_list_done (check_list_t *list)
{
    for (size_t i = 0; i < list->entry_count; i++)
        free (list->entry[i].identity);
    for (size_t i = 0; i < list->reference_count; i++)
        free (list->reference[i].name);
    free (list->entry);
    free (list->reference);
}

static int by_name (const void *a, const void *b)
{
    const check_entry_t *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return strcmp (x->identity, y->identity);
}

static int by_name_and_start (const void *a, const void *b)
{
    const check_entry_t *x = a, *y = b;
    int order = by_name (a, b);

    return order ? order
                 : (x->valid.start > y->valid.start)
                       - (x->valid.start < y->valid.start);
}

static int check_duplicates (const check_list_t *list, gl_error_t *error)
{
    for (size_t i = 1; i < list->entry_count; i++) {
        const check_entry_t *a = &list->entry[i - 1], *b = &list->entry[i];
        if (by_name (a, b) != 0 || !period_overlaps (a->valid, b->valid))
            continue;
        if (!b->kind->dated)
            return gl_error (
                error,
                "%s:%d: '%s' is defined twice in `%s` (also %s:%d); "
                "give it another name",
                b->place.file, b->place.line, b->identity, b->kind->name,
                a->place.file, a->place.line);
        return gl_error (
            error,
            "%s:%d: '%s' is defined twice in `%s` for the same time "
            "(also %s:%d); give them `from` and `to` that do not "
            "overlap, or another name",
            b->place.file, b->place.line, b->identity, b->kind->name,
            a->place.file, a->place.line);
    }
    return 0;
}

/* The longest day: clocks are set by an hour at most. */
#define DAY_MAX (25 * 3600)

static void date_of (const zone_t *zone, int64_t instant, char text[16])
{
    civil_t civil = zone_civil (zone, instant);

    snprintf (text, 16, "%04d-%02d-%02d", civil.year, civil.month, civil.day);
}

/* Who takes `to` for the last day leaves out a day: a rate that is full cost on it, a
 * cost that is missing. Nobody means a day. */
static int check_days_between (const site_t *site, const check_list_t *list,
                               gl_error_t *error)
{
    for (size_t i = 1; i < list->entry_count; i++) {
        const check_entry_t *a = &list->entry[i - 1], *b = &list->entry[i];
        char to[16], from[16];
        if (by_name (a, b) != 0 || b->valid.start <= a->valid.end
            || b->valid.start - a->valid.end > DAY_MAX)
            continue;
        date_of (site->zone, a->valid.end, to);
        date_of (site->zone, b->valid.start, from);
        return gl_error (
            error,
            "%s:%d: '%s' in `%s` leaves out %s, between `to` of the "
            "entry before (%s:%d) and `from` of this one: `to` is the "
            "first day on which an entry no longer holds, so write "
            "'to: %s' there",
            b->place.file, b->place.line, b->identity, b->kind->name, to,
            a->place.file, a->place.line, from);
    }
    return 0;
}

/* Names of a kind, for "known are". */
static void list_names (const check_list_t *list, const schema_kind_t *kind,
                        char *buf, size_t size)
{
    size_t length = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < list->entry_count; i++) {
        const check_entry_t *entry = &list->entry[i];
        size_t n = strlen (entry->identity);
        if (entry->kind != kind || (i > 0 && by_name (entry - 1, entry) == 0))
            continue;
        if (length + n + 7 > size) {
            memcpy (buf + length, ", ...", 6);
            return;
        }
        if (length > 0) {
            memcpy (buf + length, ", ", 2);
            length += 2;
        }
        memcpy (buf + length, entry->identity, n + 1);
        length += n;
    }
}

static bool any_of_kind (const check_list_t *list, const schema_kind_t *kind)
{
    return GL_ANY (list->entry, list->entry_count, it, it->kind == kind);
}

/* Without a list of them any may be named: imports need none of clusters, and one
 * of funds is for a site whose rates treat them apart. */
static bool needs_list (const schema_kind_t *kind)
{
    return strcmp (kind->name, "clusters") != 0
           && strcmp (kind->name, "funds") != 0;
}

static bool is_alias (const site_t *site, const check_reference_t *ref)
{
    return ref->aliases
           && GL_ANY (site->teams, site->team_count, it,
                      texts_have (&it->aliases, ref->name));
}

static int check_references (const site_t *site, const check_list_t *list,
                             gl_error_t *error)
{
    for (size_t i = 0; i < list->reference_count; i++) {
        const check_reference_t *ref = &list->reference[i];
        check_entry_t wanted = {.kind = ref->kind, .identity = ref->name};
        char known[300];
        if (bsearch (&wanted, list->entry, list->entry_count, sizeof (wanted),
                     by_name)
            || (!needs_list (ref->kind) && !any_of_kind (list, ref->kind))
            || is_alias (site, ref))
            continue;
        list_names (list, ref->kind, known, sizeof (known));
        return gl_error (error, "%s:%d: `%s`: '%s' is not in `%s`; %s%s",
                         ref->place.file, ref->place.line, ref->key, ref->name,
                         ref->kind->name,
                         known[0] ? "known are: "
                                  : "it is "
                                    "empty",
                         known);
    }
    return 0;
}

/* ---- pools ---- */

static int check_layout (const site_t *site, const site_pool_t *pool,
                         gl_error_t *error)
{
    const mig_table_t table = {site->profiles, site->profile_count};
    fraction_t sum;

    if (pool->gpus_per_node > MIG_GPUS_MAX)
        return gl_error (error, "%s:%d: `gpus_per_node`: more than %d",
                         pool->place.file, pool->place.line, MIG_GPUS_MAX);
    if (pool->layout
        && mig_layout (&table, pool->gpu, pool->layout,
                       (int)pool->gpus_per_node, pool->mig_weight, &sum, NULL,
                       NULL, error)
               < 0)
        return gl_error_prefix (error, "%s:%d: `layout`", pool->place.file,
                                pool->place.line);
    return 0;
}

static bool has_own_weights (const site_t *site, const char *pool)
{
    for (size_t i = 0; i < site->rate_count; i++)
        if (strcmp (site->rates[i].pool, pool) == 0
            && rate_has_weights (&site->rates[i]))
            return true;
    return false;
}

/* What a job is billed by has to be told. */
static int check_bill (const site_t *site, const site_pool_t *pool,
                       gl_error_t *error)
{
    bool dominant = pool->cpus_per_gpu || pool->memory_per_gpu;
    bool by_weights = pool->bill >= BILL_MAX,
         weighted
         = mpq_sgn (pool->cpu_weight) > 0 || mpq_sgn (pool->memory_weight) > 0;
    bool of_cpus = pool->resource == RESOURCE_CPU;
    const char *lacks
        = pool->bill == BILL_DOMINANT && !dominant
              ? of_cpus ? "`memory_per_cpu`"
                        : "`cpus_per_gpu` or `memory_per_gpu`"
          : by_weights && !weighted && !has_own_weights (site, pool->name)
              ? of_cpus ? "`memory_weight`, or a rate with `per_gb_hour`"
                        : "`cpu_weight` or `memory_weight`, or a rate with "
                          "`per_cpu_hour` or `per_gb_hour`"
              : NULL;

    if (lacks)
        return gl_error (error, "%s:%d: `bill` of pool '%s' needs %s",
                         pool->place.file, pool->place.line, pool->name, lacks);
    return 0;
}

/* One name, one unit: what is added up by pool is of one. */
static int check_resource (const site_t *site, const site_pool_t *pool,
                           gl_error_t *error)
{
    for (const site_pool_t *p = site->pools; p < pool; p++)
        if (!strcmp (p->name, pool->name) && p->resource != pool->resource)
            return gl_error (
                error,
                "%s:%d: pool '%s' counts CPUs at one time and GPUs "
                "at another (%s:%d); give them two names",
                pool->place.file, pool->place.line, pool->name, p->place.file,
                p->place.line);
    return 0;
}

/* Of CPUs there is one type. */
static int check_cpus (const site_pool_t *pool, gl_error_t *error)
{
    const char *key = pool->gres.count       ? "gres"
                      : pool->gpu            ? "cpu"
                      : pool->layout         ? "layout"
                      : pool->shards_per_gpu ? "shards_per_cpu"
                      : pool->mps_per_gpu    ? "mps_per_cpu"
                      : pool->cpus_per_gpu   ? "cpus_per_cpu"
                                             : NULL;

    if (pool->resource == RESOURCE_GPU && pool->cpu_jobs != CPUS_WITHOUT_GPUS)
        key = "cpu_jobs";
    else if (pool->resource == RESOURCE_GPU)
        return 0;
    if (key)
        return gl_error (error,
                         "%s:%d: `%s` does not apply to pool '%s', which "
                         "counts %s; leave it out",
                         pool->place.file, pool->place.line, key, pool->name,
                         pool->resource == RESOURCE_CPU ? "CPUs" : "GPUs");
    return 0;
}

static bool share_type (const text_list_t *a, const text_list_t *b)
{
    return a->count == 0 || b->count == 0
           || GL_ANY (a->item, a->count, it, texts_have (b, *it));
}

static bool same_devices (const site_pool_t *a, const site_pool_t *b)
{
    return period_overlaps (a->valid, b->valid) && a->resource == b->resource
           && (!a->cluster || !b->cluster
               || strcmp (a->cluster, b->cluster) == 0)
           && share_type (&a->gres, &b->gres);
}

/* A pool says that a node is its own. */
struct claim {
    char *node;
    const site_pool_t *pool;
};

struct claims {
    struct claim *claim;
    size_t count;
};

static int by_node (const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    int order = strcmp (x->node, y->node);

    return order ? order : (x->pool > y->pool) - (x->pool < y->pool);
}

static int add_claims (struct claims *claims, const site_pool_t *pool,
                       gl_error_t *error)
{
    nodelist_t *nodes = nodelist_open (pool->nodes, error);
    const char *node;
    int rc = 0;

    if (!nodes)
        return gl_error_prefix (error, "%s:%d: `nodes`", pool->place.file,
                                pool->place.line);
    if (nodelist_count (nodes) == 0)
        rc = gl_error (error, "%s:%d: `nodes` is empty", pool->place.file,
                       pool->place.line);
    else if (claims->count + nodelist_count (nodes) > NODELIST_MAX)
        rc = gl_error (error, "%s:%d: `nodes`: more than %d nodes in all pools",
                       pool->place.file, pool->place.line, NODELIST_MAX);
    while (rc == 0 && (node = nodelist_next (nodes))) {
        claims->claim
            = grow (claims->claim, claims->count, sizeof (*claims->claim));
        claims->claim[claims->count++] = (struct claim){xstrdup (node), pool};
    }
    nodelist_close (nodes);
    return rc;
}

/* Two claims of one node: a node twice in a list would count its GPUs twice,
 * a device in two pools would be charged twice. */
static int check_pair (const struct claim *a, const struct claim *b,
                       gl_error_t *error)
{
    const site_pool_t *pool = b->pool, *other = a->pool;

    if (pool == other)
        return gl_error (error, "%s:%d: `nodes`: '%s' is listed twice",
                         pool->place.file, pool->place.line, b->node);
    if (!same_devices (pool, other))
        return 0;
    return gl_error (error,
                     "%s:%d: pools '%s' and '%s' (%s:%d) both hold node '%s' "
                     "with %s at the same time; tell them "
                     "apart by %s`nodes` or dates",
                     pool->place.file, pool->place.line, pool->name,
                     other->name, other->place.file, other->place.line, b->node,
                     pool->resource == RESOURCE_CPU ? "its CPUs"
                                                    : "the same GRES types",
                     pool->resource == RESOURCE_CPU ? "" : "`gres`, ");
}

static int check_claims (const struct claims *claims, gl_error_t *error)
{
    if (claims->count > 0)
        qsort (claims->claim, claims->count, sizeof (*claims->claim), by_node);
    for (size_t i = 0; i < claims->count; i++) {
        for (size_t k = i + 1; k < claims->count; k++) {
            const struct claim *a = &claims->claim[i], *b = &claims->claim[k];
            if (strcmp (a->node, b->node) != 0)
                break;
            if (check_pair (a, b, error) < 0)
                return -1;
        }
    }
    return 0;
}

static int check_pools (const site_t *site, gl_error_t *error)
{
    struct claims claims = {NULL, 0};
    int rc = 0;

    for (size_t i = 0; i < site->pool_count && rc == 0; i++) {
        rc = add_claims (&claims, &site->pools[i], error);
        if (rc == 0)
            rc = check_layout (site, &site->pools[i], error);
        if (rc == 0)
            rc = check_bill (site, &site->pools[i], error);
        if (rc == 0)
            rc = check_cpus (&site->pools[i], error);
        if (rc == 0)
            rc = check_resource (site, &site->pools[i], error);
    }
    if (rc == 0)
        rc = check_claims (&claims, error);
    GL_FREE_EACH (claims.claim, claims.count, it, free (it->node));
    return rc;
}

/* ---- budgets ---- */

static int check_budget (const site_budget_t *b, gl_error_t *error)
{
    int scopes = (b->team != NULL) + (b->project != NULL) + (b->account != NULL)
                 + (b->pool != NULL);
    int amounts = (mpq_sgn (b->amount) > 0) + (mpq_sgn (b->gpu_hours) > 0);

    if (scopes != 1)
        return gl_error (error,
                         "%s:%d: budget '%s' limits %s; give one of `team`, "
                         "`project`, `account` and `pool`",
                         b->place.file, b->place.line, b->name,
                         scopes ? "more than one thing" : "nothing");
    if (amounts != 1)
        return gl_error (error,
                         "%s:%d: budget '%s' has %s; give one of `amount` and "
                         "`gpu_hours`",
                         b->place.file, b->place.line, b->name,
                         amounts ? "two amounts" : "no amount");
    if (mpq_sgn (b->hard) > 0 && mpq_cmp (b->soft, b->hard) > 0)
        return gl_error (error,
                         "%s:%d: budget '%s' would refuse jobs before it "
                         "warns: `soft` is above `hard`",
                         b->place.file, b->place.line, b->name);
    return 0;
}

static int check_budgets (const site_t *site, gl_error_t *error)
{
    for (size_t i = 0; i < site->budget_count; i++) {
        if (check_budget (&site->budgets[i], error) < 0)
            return -1;
    }
    return 0;
}

/* ---- the ledger ---- */

static int check_go_live (const site_t *site, gl_error_t *error)
{
    if (site->go_live.year == 0 || site->go_live.day == 1)
        return 0;
    return gl_error (
        error,
        "ledger: `go_live` is %04d-%02d-%02d: months are billed as "
        "a whole, write the first day of one",
        site->go_live.year, site->go_live.month, site->go_live.day);
}

/* A price has a date and a source, typed or from the catalogue. */
static int check_cloud (const site_cloud_t *cloud, gl_error_t *error)
{
    bool priced = mpq_sgn (cloud->per_gpu_hour) != 0;
    const char *lacks = !priced          ? "per_gpu_hour"
                        : !cloud->as_of  ? "as_of"
                        : !cloud->source ? "source"
                                         : NULL;

    if (cloud->catalogue && (priced || cloud->source))
        return gl_error (error,
                         "%s:%d: the price of '%s' comes from the catalogue: "
                         "leave out `%s`, or `catalogue`",
                         cloud->place.file, cloud->place.line, cloud->name,
                         priced ? "per_gpu_hour" : "source");
    if (!cloud->catalogue && lacks)
        return gl_error (error,
                         "%s:%d: an entry of `clouds` lacks `%s`: give "
                         "per_gpu_hour, as_of and source, or `catalogue`",
                         cloud->place.file, cloud->place.line, lacks);
    return 0;
}

static int check_clouds (const site_t *site, gl_error_t *error)
{
    for (size_t i = 0; i < site->cloud_count; i++)
        if (check_cloud (&site->clouds[i], error) < 0)
            return -1;
    return 0;
}

static int check_analyses (const site_t *site, gl_error_t *error)
{
    for (size_t i = 0; i < site->analysis_count; i++)
        if (analysis_check (&site->analyses[i], error) < 0)
            return -1;
    return 0;
}

/* ---- close ---- */

/* Run by whoever closes, often root: not whatever PATH has. */
static int check_command (const char *key, const text_list_t *command,
                          gl_error_t *error)
{
    if (command->count == 0 || command->item[0][0] == '/')
        return 0;
    return gl_error (error,
                     "close.%s: '%s' is not an absolute path; write [/usr/bin/"
                     "PROGRAM, ARGUMENT, ...]",
                     key, command->item[0]);
}

static int check_close (const site_t *site, gl_error_t *error)
{
    const site_close_t *close = &site->close;

    if (close->sign.count && !close->anchor)
        return gl_error (error, "close.sign signs the file of close.anchor, "
                                "which is not set");
    return check_command ("anchor_command", &close->anchor_command, error) < 0
                   || check_command ("sign", &close->sign, error) < 0
               ? -1
               : 0;
}

static bool is_colour (const char *text)
{
    size_t length = strlen (text);

    return *text == '#' && (length == 4 || length == 7)
           && strspn (text + 1, "0123456789abcdefABCDEF") == length - 1;
}

static int check_publish (const site_t *site, gl_error_t *error)
{
    const site_publish_t *publish = &site->publish;
    bool file
        = publish->access == PUBLISH_NGINX || publish->access == PUBLISH_APACHE;

    if (publish->at_close && !publish->directory)
        return gl_error (error, "publish.at_close: set publish.directory, the "
                                "directory of the site");
    if (publish->users == PUBLISH_PSEUDONYMS && !publish->key_file)
        return gl_error (error, "publish.users: pseudonyms need a secret key: "
                                "set publish.key_file");
    if (file && !publish->access_file)
        return gl_error (error, "publish.access: set publish.access_file, "
                                "which the web server includes");
    if (!file && publish->access_file)
        return gl_error (error, "publish.access_file is written for nginx or "
                                "apache: set publish.access");
    if (publish->colour && !is_colour (publish->colour))
        return gl_error (error,
                         "publish.colour: '%s' is no colour; write it as "
                         "\"#1f5fa8\"",
                         publish->colour);
    return 0;
}

static int check_address (const char *key, const char *text, gl_error_t *error)
{
    address_t address;
    gl_error_t wrong;

    if (!text)
        return 0;
    if (address_parse (text, &address, &wrong) < 0)
        return gl_error (error, "mail.%s: %s", key, wrong.text);
    address_clear (&address);
    return 0;
}

static int check_mail (const site_t *site, gl_error_t *error)
{
    const site_mail_t *mail = &site->mail;

    if (mail->sendmail.count > 0 && *mail->sendmail.item[0] != '/')
        return gl_error (error,
                         "mail.sendmail begins with '%s'; write the full path "
                         "of the program",
                         mail->sendmail.item[0]);
    if (site->idle_jobs.command.count > 0
        && *site->idle_jobs.command.item[0] != '/')
        return gl_error (error,
                         "idle_jobs.command begins with '%s'; write the full "
                         "path of the program",
                         site->idle_jobs.command.item[0]);
    if (mail->domain) {
        GL_AUTOFREE char *user = xasprintf ("user@%s", mail->domain);
        if (check_address ("domain", user, error) < 0)
            return -1;
    }
    for (size_t i = 0; i < mail->monthly.count; i++)
        if (check_address ("monthly", mail->monthly.item[i], error) < 0)
            return -1;
    return check_address ("from", mail->from, error) < 0
                   || check_address ("reply_to", mail->reply_to, error) < 0
               ? -1
               : 0;
}

/* Reports, filters and statements call so what belongs to none. */
#define ABSENT "(none)"

static int check_name (const char *name, const place_t *place,
                       const char *section, gl_error_t *error)
{
    if (strcmp (name, ABSENT) != 0)
        return 0;
    return gl_error (error,
                     "%s:%d: '" ABSENT
                     "' in `%s` is what reports call all that "
                     "belongs to none; give it another name",
                     place->file, place->line, section);
}

/* `what`: "a unit" */
static int check_tag (const char *name, const place_t *place,
                      const char *section, const char *what, gl_error_t *error)
{
    if (tag_valid (name, strnlen (name, TAG_MAX + 1)))
        return 0;
    return gl_error (error,
                     "%s:%d: '%.64s' in `%s` is not %s: 1-64 characters of A-Z "
                     "a-z 0-9 . _ -, beginning with a letter or digit",
                     place->file, place->line, name, section, what);
}

static int check_names (const site_t *site, gl_error_t *error)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < site->team_count; i++) {
        const site_team_t *team = &site->teams[i];
        rc = check_name (team->name, &team->place, "teams", error);
        for (size_t k = 0; rc == 0 && k < team->aliases.count; k++)
            rc = check_name (team->aliases.item[k], &team->place, "teams",
                             error);
    }
    for (size_t i = 0; rc == 0 && i < site->pool_count; i++)
        rc = check_name (site->pools[i].name, &site->pools[i].place, "pools",
                         error);
    for (size_t i = 0; rc == 0 && i < site->institution_count; i++)
        rc = check_name (site->institutions[i].name,
                         &site->institutions[i].place, "institutions", error);
    for (size_t i = 0; rc == 0 && i < site->project_count; i++)
        rc = check_tag (site->projects[i].name, &site->projects[i].place,
                        "projects", "a project tag", error);
    return rc;
}

static int check_units (const site_t *site, gl_error_t *error)
{
    uint16_t ports[PORTS_MAX];

    for (size_t i = 0; i < site->unit_count; i++) {
        const site_unit_t *u = &site->units[i];
        if (check_tag (u->name, &u->place, "units", "a unit", error) < 0)
            return -1;
    }
    return network_parse_ports (
               (const char *const *)site->agent.counter_ports.item,
               site->agent.counter_ports.count, ports, error)
                   < 0
               ? gl_error_prefix (error, "agent.counter_ports")
               : 0;
}

int check_site (const site_t *site, check_list_t *list, gl_error_t *error)
{
    if (list->entry_count > 0)
        qsort (list->entry, list->entry_count, sizeof (*list->entry),
               by_name_and_start);
    if (check_duplicates (list, error) < 0
        || check_days_between (site, list, error) < 0
        || check_references (site, list, error) < 0
        || check_pools (site, error) < 0 || check_teams (site, error) < 0
        || check_names (site, error) < 0 || check_book (site, error) < 0
        || check_go_live (site, error) < 0 || check_budgets (site, error) < 0
        || check_prices (site, error) < 0 || check_settlement (site, error) < 0
        || check_close (site, error) < 0 || check_publish (site, error) < 0
        || check_mail (site, error) < 0 || check_clouds (site, error) < 0
        || check_analyses (site, error) < 0 || check_units (site, error) < 0)
        return -1;
    return 0;
}
