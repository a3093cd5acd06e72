/* FOCUS cells in words: resources, SKUs, descriptions, tags, our own columns. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/exact.h"
#include "base/memory.h"
#include "base/tag.h"
#include "render/focus_private.h"
#include "render/json.h"

/* So deep that an object stands in one line. */
#define JSON_INLINE 3

static void put_member (json_t *json, const char *key, const char *value)
{
    if (value)
        json_string (json, key, value);
}

static bool is_reserved (const line_item_t *row)
{
    return row->what && !strcmp (row->what, "reserved_unused");
}

/* --- what --------------------------------------------------------------------- */

/* "4242", "4240_2" or "4200+1". */
static void job_text (const line_item_t *row, char buf[64])
{
    if (row->array_job && row->array_task_1)
        snprintf (buf, 64, "%llu_%llu", (unsigned long long)row->array_job,
                  (unsigned long long)row->array_task_1 - 1);
    else if (row->het_job && row->het_offset_1)
        snprintf (buf, 64, "%llu+%llu", (unsigned long long)row->het_job,
                  (unsigned long long)row->het_offset_1 - 1);
    else
        snprintf (buf, 64, "%llu", (unsigned long long)row->id_job);
}

static void reservation_text (const line_item_t *row, buffer_t *out)
{
    buffer_printf (out, "slurm://%s/reservation/",
                   row->cluster ? row->cluster : "any");
    if (row->reservation_id)
        buffer_printf (out, "%llu-", (unsigned long long)row->reservation_id);
    buffer_add_text (out, row->reservation);
}

/* The job that a credit goes back to: CLUSTER/JOBID/SUBMIT. */
static void put_referred (focus_t *f, const line_item_t *row)
{
    const char *slash = row->reference ? strchr (row->reference, '/') : NULL;
    size_t digits = slash ? strspn (slash + 1, "0123456789") : 0;
    char job[64];

    if (!slash || digits == 0 || slash[1 + digits] != '/'
        || focus_is_service (row))
        return;
    snprintf (job, sizeof (job), "%.*s", (int)digits, slash + 1);
    if (row->id_job)
        job_text (row, job);
    buffer_printf (&f->cell[C_ResourceId], "slurm://%.*s/job/%s",
                   (int)(slash - row->reference), row->reference, job);
    focus_put (f, C_ResourceType, "GPU job");
}

static const char *class_type (const line_item_t *row)
{
    static const struct {
        const char *what, *type;
    } types[] = {
        {"stranded", "Stranded capacity"},
        {"cpu_stranded", "Stranded capacity"},
        {"reserved_unused", "GPU reservation"},
        {"planned_down", "Down capacity"},
        {"down", "Down capacity"},
        {"unknown", "Unknown capacity"},
    };

    for (size_t i = 0; row->what && i < GL_ARRAY_SIZE (types); i++)
        if (!strcmp (types[i].what, row->what))
            return types[i].type;
    return "Idle capacity";
}

/* What is paid for it, or is left of it. */
static bool is_entitlement (const line_item_t *row)
{
    return row->kind == LINE_ITEM_UNUSED || row->kind == LINE_ITEM_ENTITLEMENT;
}

const char *focus_resource (const focus_t *f, const char *pool)
{
    return site_pool_of_cpus (f->book, pool) ? "CPU" : "GPU";
}

const char *focus_hours (const focus_t *f, const char *pool)
{
    return site_pool_of_cpus (f->book, pool) ? "CPU-Hours" : "GPU-Hours";
}

void focus_put_resource (focus_t *f, const line_item_t *row)
{
    char job[64];

    if (row->kind == LINE_ITEM_JOB) {
        job_text (row, job);
        buffer_printf (&f->cell[C_ResourceId], "slurm://%s/job/%s",
                       row->cluster, job);
        focus_put (f, C_ResourceName, row->job_name);
        focus_put (f, C_ResourceType,
                   row->profile                             ? "MIG job"
                   : focus_is_part (row)                    ? "GPU shard job"
                   : site_pool_of_cpus (f->book, row->pool) ? "CPU job"
                                                            : "GPU job");
    } else if (focus_is_idle_time (row) && is_reserved (row)
               && row->reservation) {
        reservation_text (row, &f->cell[C_ResourceId]);
        focus_put (f, C_ResourceName, row->reservation);
        focus_put (f, C_ResourceType, class_type (row));
    } else if (focus_is_idle_time (row) || row->kind == LINE_ITEM_COST
               || is_entitlement (row)) {
        buffer_printf (&f->cell[C_ResourceId], "slurm://%s/pool/%s",
                       row->cluster ? row->cluster : "any",
                       row->pool ? row->pool : "any");
        focus_put (f, C_ResourceName, row->pool);
        focus_put (f, C_ResourceType,
                   row->kind == LINE_ITEM_COST ? "Cost pool"
                   : is_entitlement (row)      ? "Entitlement"
                                               : class_type (row));
    } else if (row->kind == LINE_ITEM_SERVICE) {
        focus_put_id (f, C_ResourceId, "service/", row->reference);
        focus_put (f, C_ResourceName, row->reference);
        focus_put (f, C_ResourceType, "Other service");
    } else if (row->kind == LINE_ITEM_PURCHASE) {
        focus_put_id (f, C_ResourceId, "asset/", row->reference);
        focus_put (f, C_ResourceName, row->reference);
        focus_put (f, C_ResourceType, "Hardware");
    } else
        put_referred (f, row);
    if (row->reservation) {
        reservation_text (row, &f->cell[C_CapacityReservationId]);
        focus_put (f, C_CapacityReservationStatus,
                   row->kind == LINE_ITEM_JOB ? "Used" : "Unused");
    }
}

/* Lower case; all but letters and digits is a dash. */
static void add_slug (buffer_t *out, const char *text)
{
    for (; *text; text++) {
        char c = *text >= 'A' && *text <= 'Z' ? (char)(*text + 32) : *text;
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        buffer_add_char (out, plain ? c : '-');
    }
}

static const char *meter (const focus_t *f, const line_item_t *row)
{
    if (site_pool_of_cpus (f->book, row->pool))
        return row->kind == LINE_ITEM_IDLE || row->kind == LINE_ITEM_CAPACITY
                   ? "CPU idle time"
               : is_entitlement (row) ? "Entitled CPU time"
                                      : "CPU allocation time";
    if (row->kind == LINE_ITEM_IDLE || row->kind == LINE_ITEM_CAPACITY)
        return "GPU idle time";
    if (is_entitlement (row))
        return "Entitled GPU time";
    return row->profile    ? "MIG slice time"
           : focus_is_part (row) ? "GPU shard time"
                           : "GPU allocation time";
}

/* What no job holds: "cost-staff-ops/h100", "asset-nodes-2025/h100". */
static void put_bought (focus_t *f, const line_item_t *row)
{
    json_t json = {&f->cell[C_SkuPriceDetails], JSON_INLINE, true, false};
    buffer_t *id = &f->cell[C_SkuId];

    buffer_printf (id, "%s-",
                   row->kind == LINE_ITEM_PURCHASE ? "asset" : "cost");
    if (row->what) {
        add_slug (id, row->what);
        buffer_add_char (id, '-');
    }
    add_slug (id, row->reference ? row->reference : "any");
    focus_put (f, C_SkuMeter,
               row->kind == LINE_ITEM_PURCHASE ? "Hardware"
                                               : "Cost of a month");
    focus_copy (f, C_SkuPriceId, C_SkuId);
    buffer_printf (&f->cell[C_SkuPriceId], "/%s", row->pool ? row->pool : "");
    json_object (&json, NULL);
    put_member (&json, "x_Pool", row->pool);
    put_member (&json, "x_Name", row->reference);
    json_end_object (&json);
}

/* Sizes and times that FOCUS knows (its UnitFormat), by what people write. */
const char *focus_unit (const char *unit)
{
    static const struct {
        const char *unit, *words;
    } units[] = {
        {"GB-Hours", "gb-hours gb-hour gbh"},
        {"GB-Days", "gb-days gb-day"},
        {"GB-Months", "gb-months gb-month"},
        {"GB-Years", "gb-years gb-year"},
        {"TB-Hours", "tb-hours tb-hour"},
        {"TB-Days", "tb-days tb-day"},
        {"TB-Months", "tb-months tb-month"},
        {"TB-Years", "tb-years tb-year"},
        {"TiB-Months", "tib-months tib-month"},
        {"GiB-Months", "gib-months gib-month"},
        {"GB", "gb"},
        {"TB", "tb"},
        {"Hours", "hours hour h"},
        {"Days", "days day"},
        {"Months", "months month"},
        {"Years", "years year"},
        {"Core-Hours", "core-hours core-hour cpu-hours cpu-hour"},
        {"GPU-Hours", "gpu-hours gpu-hour"},
        {"Requests", "requests request"},
    };
    size_t length = strlen (unit);

    for (size_t i = 0; i < GL_ARRAY_SIZE (units); i++)
        for (const char *word = units[i].words; *word;) {
            size_t size = strcspn (word, " ");
            if (size == length && !strncasecmp (word, unit, size))
                return units[i].unit;
            word += size + (word[size] == ' ');
        }
    return "Units";
}

/* "service-storage", sold by the "service-storage/tb-months". */
static void put_service (focus_t *f, const line_item_t *row)
{
    json_t json = {&f->cell[C_SkuPriceDetails], JSON_INLINE, true, false};

    focus_put (f, C_SkuId, "service-");
    add_slug (&f->cell[C_SkuId], row->what);
    focus_put (f, C_SkuMeter, row->what);
    focus_copy (f, C_SkuPriceId, C_SkuId);
    focus_put (f, C_SkuPriceId, "/");
    add_slug (&f->cell[C_SkuPriceId], row->unit);
    json_object (&json, NULL);
    put_member (&json, "x_Service", row->what);
    put_member (&json, "x_Unit", row->unit);
    json_end_object (&json);
}

void focus_put_sku (focus_t *f, const line_item_t *row)
{
    buffer_t *id = &f->cell[C_SkuId], *price = &f->cell[C_SkuPriceId];
    buffer_t *details = &f->cell[C_SkuPriceDetails];
    bool idle = focus_is_idle_time (row);
    json_t json = {details, JSON_INLINE, true, false};

    if (row->kind == LINE_ITEM_COST || row->kind == LINE_ITEM_PURCHASE) {
        put_bought (f, row);
        return;
    }
    if (row->kind == LINE_ITEM_SERVICE) {
        put_service (f, row);
        return;
    }
    buffer_add_text (id,
                     site_pool_of_cpus (f->book, row->pool) ? "cpu-" : "gpu-");
    add_slug (id, row->gpu ? row->gpu : "any");
    if (row->profile) {
        buffer_add_text (id, "-mig-");
        add_slug (id, row->profile);
    } else if (focus_is_part (row)) {
        buffer_add_char (id, '-');
        add_slug (id, row->gres_type);
    }
    if (idle)
        buffer_add_text (id, "-idle");
    else if (row->kind == LINE_ITEM_UNUSED)
        buffer_add_text (id, "-entitled");
    else if (row->kind == LINE_ITEM_ENTITLEMENT)
        buffer_add_text (id, "-entitlement");
    focus_put (f, C_SkuMeter, meter (f, row));
    focus_copy (f, C_SkuPriceId, C_SkuId);
    buffer_printf (price, "/%s", row->pool ? row->pool : "");
    if (row->qos && !idle)
        buffer_printf (price, "/%s", row->qos);
    json_object (&json, NULL);
    put_member (&json, "x_GpuModel", row->gpu);
    put_member (&json, "x_MigProfile", row->profile);
    put_member (&json, "x_Pool", row->pool);
    put_member (&json, "x_Qos", idle ? NULL : row->qos);
    json_end_object (&json);
}

/* --- in words ------------------------------------------------------------------ */

void focus_put_description (focus_t *f, const line_item_t *row)
{
    buffer_t *out = &f->cell[C_ChargeDescription];
    char job[64], day[ZONE_STAMP_SIZE];

    zone_unit_name (f->site->zone, CALENDAR_DAY, row->start, day);
    switch (row->kind) {
    case LINE_ITEM_JOB:
        job_text (row, job);
        buffer_printf (
            out, "%llux %s%s%s job %s", (unsigned long long)row->devices,
            row->gpu ? row->gpu : focus_resource (f, row->pool),
            row->profile ? " " : "", row->profile ? row->profile : "", job);
        if (row->job_name)
            buffer_printf (out, " (%s)", row->job_name);
        buffer_printf (out, " %s", day);
        break;
    case LINE_ITEM_CAPACITY:
        buffer_printf (out, "pool %s, %s, %s", row->pool, row->what, day);
        break;
    case LINE_ITEM_IDLE:
        buffer_printf (out, "share of %s in pool %s, %s",
                       row->what ? row->what : "idle time",
                       row->pool ? row->pool : "(none)", row->month);
        break;
    case LINE_ITEM_ROUNDING:
        buffer_printf (out, "rounding of the statement, %s", row->month);
        break;
    case LINE_ITEM_COST:
        buffer_printf (out, "%s, %s in pool %s, %s", row->what,
                       row->reference ? row->reference : "(none)", row->pool,
                       row->month);
        break;
    case LINE_ITEM_UNUSED:
        buffer_printf (out, "entitlement %s, not used, %s", row->commitment,
                       row->month);
        break;
    case LINE_ITEM_ENTITLEMENT:
        buffer_printf (out, "entitlement %s, %s", row->reference, row->month);
        break;
    case LINE_ITEM_PURCHASE:
        buffer_printf (out, "%s for pool %s, in service %s", row->reference,
                       row->pool, day);
        break;
    case LINE_ITEM_SETTLEMENT:
        buffer_printf (out, "%s '%s', %s", row->what, row->reference,
                       row->month);
        if (row->reason)
            buffer_printf (out, ": %s %s",
                           !strcmp (row->what, "split") ? "cost object"
                           : mpz_sgn (row->billed) < 0  ? "paid by"
                                                        : "for",
                           row->reason);
        break;
    case LINE_ITEM_SERVICE:
        buffer_printf (out, "%s, %s", row->what, row->month);
        if (row->reason)
            buffer_printf (out, ": %s", row->reason);
        break;
    case LINE_ITEM_CREDIT:
    case LINE_ITEM_CORRECTION:
    case LINE_ITEM_TAX:
    case LINE_ITEM_KIND_COUNT:
        buffer_printf (out, "%s", line_item_kind_word (row->kind));
        if (row->what)
            buffer_printf (out, " %s", row->what);
        if (row->kind == LINE_ITEM_CORRECTION && row->origin)
            buffer_printf (out, " (%s)", row->origin);
        buffer_printf (out, ", %s", row->month);
        if (row->reason)
            buffer_printf (out, ": %s", row->reason);
        break;
    }
}

static bool is_own_tag (const char *key, size_t length)
{
    static const char *const own[]
        = {"team", "project", "cost-center", "institution", "class"};

    for (size_t i = 0; i < GL_ARRAY_SIZE (own); i++)
        if (strlen (own[i]) == length && !strncmp (own[i], key, length))
            return true;
    return false;
}

/* A label of a user does not pass for what the site says. */
static void put_label (json_t *json, const char *key, size_t key_length,
                       const char *value, size_t value_length)
{
    char name[TAG_MAX + 8], text[TAG_MAX + 1];

    if (key_length > TAG_MAX || value_length > TAG_MAX)
        return;
    snprintf (name, sizeof (name), "%s%.*s",
              is_own_tag (key, key_length) ? "label-" : "", (int)key_length,
              key);
    snprintf (text, sizeof (text), "%.*s", (int)value_length, value);
    put_member (json, name, text);
}

/* As the month's bill has it. */
static const site_team_t *team_of (focus_t *f, const line_item_t *row)
{
    if (!row->team || !f->team || strcmp (f->team->name, row->team) != 0)
        f->team = team_within (f->book, row->team, f->month);
    return f->team;
}

void focus_put_tags (focus_t *f, const line_item_t *row)
{
    json_t json = {&f->cell[C_Tags], JSON_INLINE, true, false};
    const site_team_t *team = team_of (f, row);
    const char *at = row->labels, *key, *value;
    size_t key_length, value_length;

    json_object (&json, NULL);
    put_member (&json, "team", row->team);
    put_member (&json, "project", row->project);
    put_member (&json, "cost-center", row->cost_center);
    put_member (&json, "institution", team ? team->institution : NULL);
    put_member (&json, "class", team ? team->class : NULL);
    while (at && labels_next (&at, &key, &key_length, &value, &value_length))
        put_label (&json, key, key_length, value, value_length);
    json_end_object (&json);
}

/* --- a share of time that nobody held ---------------------------------------------- */

static void put_decimal (focus_t *f, json_t *json, const char *key,
                         mpz_srcptr units)
{
    buffer_clear (&f->scratch);
    focus_add_units (f, &f->scratch, units, LINE_ITEM_DIGITS);
    json_number (json, key, buffer_text (&f->scratch));
}

/* Of the origin, which is the time of that class in the pool (ResourceId). */
void focus_put_split (focus_t *f, const line_item_t *row)
{
    const char *to = row->account ? row->account : row->team;
    json_t json = {&f->cell[C_AllocatedMethodDetails], JSON_INLINE, true, false};

    if (!row->method)
        return;
    focus_put (f, C_AllocatedMethodId, row->method);
    json_object (&json, NULL);
    json_array (&json, "Elements");
    json_object (&json, NULL);
    put_decimal (f, &json, "AllocatedRatio", row->ratio);
    json_string (&json, "UsageUnit", row->unit);
    put_decimal (f, &json, "UsageQuantity", row->counted);
    json_end_object (&json);
    json_end_array (&json);
    json_end_object (&json);
    focus_put_id (f, C_AllocatedResourceId,
                  row->account || !row->team ? "acct-" : "team-",
                  to ? to : "(none)");
    focus_put (f, C_AllocatedResourceName, to ? to : "(none)");
    focus_copy (f, C_AllocatedTags, C_Tags);
}

/* --- our own columns ------------------------------------------------------------- */

static void put_measured (focus_t *f, const line_item_t *row)
{
    mpq_t value;

    mpq_init (value);
    if (row->energy_ms) {
        exact_set_i64 (value, 1, 3600000000);
        mpz_mul_ui (mpq_numref (value), mpq_numref (value), row->energy_mj);
        mpq_canonicalize (value);
        exact_round (f->product, value, 6);
        focus_put_units (f, C_x_EnergyKwh, f->product, 6);
    }
    if (row->utilization_ms) {
        mpz_set_ui (mpq_numref (value), row->utilization_sum);
        mpz_set_ui (mpq_denref (value), row->utilization_ms);
        mpq_canonicalize (value);
        exact_round (f->product, value, 0);
        focus_put_units (f, C_x_GpuUtilization, f->product, 2);
    }
    mpq_clear (value);
}

static void put_job (focus_t *f, const line_item_t *row)
{
    buffer_printf (&f->cell[C_x_SlurmJobId], "j%llu",
                   (unsigned long long)row->id_job);
    if (row->job_db_inx)
        buffer_printf (&f->cell[C_x_SlurmDbIndex], "i%llu",
                       (unsigned long long)row->job_db_inx);
    focus_put_time (f, C_x_SlurmSubmitTime, row->submit);
    focus_put (f, C_x_JobState, row->state);
    buffer_printf (&f->cell[C_x_DeviceCount], "%llu.0",
                   (unsigned long long)row->devices);
    if (row->cloud_date) {
        focus_put_units (f, C_x_CloudEquivalentCost, row->cloud_cost,
                         LINE_ITEM_DIGITS);
        focus_put (f, C_x_CloudPriceDate, row->cloud_date);
    }
    put_measured (f, row);
}

void focus_put_own (focus_t *f, const line_item_t *row)
{
    focus_put (f, C_x_SlurmCluster, row->cluster);
    focus_put (f, C_x_SlurmAccount, row->account);
    focus_put (f, C_x_SlurmUser, row->user);
    focus_put (f, C_x_SlurmPartition, row->partition);
    focus_put (f, C_x_SlurmQos, row->qos);
    focus_put (f, C_x_Pool, row->pool);
    focus_put (f, C_x_GresType, row->gres_type);
    focus_put (f, C_x_RowKind, line_item_kind_word (row->kind));
    focus_put (f, C_x_Reference, row->reference);
    focus_put (f, C_x_Fund, row->fund);
    focus_put (f, C_x_RateCardVersion, row->rate_card);
    if (focus_is_idle_time (row))
        focus_put (f, C_x_IdleClass, row->what);
    if (row->slice_end) {
        focus_put_time (f, C_x_SliceStart, row->slice_start);
        focus_put_time (f, C_x_SliceEnd, row->slice_end);
        if (!site_pool_of_cpus (f->book, row->pool))
            focus_put_units (f, C_x_GpuHours, row->gpu_hours, LINE_ITEM_DIGITS);
        focus_put_units (f, C_x_FullCost, row->full_cost, LINE_ITEM_DIGITS);
    }
    if (row->kind == LINE_ITEM_JOB)
        put_job (f, row);
}

