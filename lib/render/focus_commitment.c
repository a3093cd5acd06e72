/* Hours covered by an entitlement: FOCUS' commitment discounts. */
#include "render/focus_private.h"
#include "render/json.h"

#define JSON_INLINE 3

const char focus_commitment_type[] = "Allocation";

bool focus_is_committed (const line_item_t *row)
{
    return row->kind == LINE_ITEM_UNUSED
           || (mpz_sgn (row->committed_hours) > 0
               && mpz_cmp (row->committed_hours, row->price_hours) == 0
               && mpz_sgn (row->billed) == 0);
}

/* --- a row in two ------------------------------------------------------------- */

/* The covered part of a value of the row, floor (x part / whole), or the rest.
 */
static void cut (mpz_t value, mpz_srcptr part, mpz_srcptr whole, bool committed)
{
    mpz_t first;

    mpz_init (first);
    mpz_mul (first, value, part);
    mpz_fdiv_q (first, first, whole);
    if (committed)
        mpz_set (value, first);
    else
        mpz_sub (value, value, first);
    mpz_clear (first);
}

static uint64_t cut_number (uint64_t value, mpz_srcptr part, mpz_srcptr whole,
                            bool committed)
{
    mpz_t z;

    mpz_init_set_ui (z, value);
    cut (z, part, whole, committed);
    value = mpz_get_ui (z);
    mpz_clear (z);
    return value;
}

bool focus_take_part (line_item_t *to, const line_item_t *row, bool committed)
{
    mpz_srcptr part = row->committed_hours, whole = row->price_hours;

    line_item_copy (to, row);
    cut (to->device_hours, part, whole, committed);
    cut (to->gpu_hours, part, whole, committed);
    cut (to->full_cost, part, whole, committed);
    cut (to->cloud_cost, part, whole, committed);
    cut (to->counted, part, whole, committed);
    cut (to->ratio, part, whole, committed);
    to->energy_mj = cut_number (row->energy_mj, part, whole, committed);
    if (committed) {
        mpz_set (to->price_hours, part);
        mpz_set_ui (to->billed, 0);
        return true;
    }
    mpz_sub (to->price_hours, whole, part);
    mpz_set_ui (to->committed_hours, 0);
    mpz_set_ui (to->consumed_hours, 0);
    mpz_set_ui (to->prepaid, 0);
    return mpz_sgn (to->price_hours) > 0 || mpz_sgn (to->billed) != 0;
}

/* --- columns -------------------------------------------------------------------- */

void focus_add_contract (const focus_t *f, buffer_t *out,
                         const char *commitment)
{
    buffer_printf (out, "%s/%s", commitment, f->month_name);
}

static void put_applied (focus_t *f, const line_item_t *row)
{
    json_t json = {&f->cell[C_ContractApplied], JSON_INLINE, true, false};
    bool is_1_3 = f->version < FOCUS_1_4; /* which spelt them so */
    buffer_t id = {0};

    focus_add_contract (f, &id, row->commitment);
    buffer_clear (&f->scratch);
    focus_add_units (f, &f->scratch, row->consumed_hours, LINE_ITEM_DIGITS);
    json_object (&json, NULL);
    json_array (&json, "Elements");
    json_object (&json, NULL);
    json_string (&json, is_1_3 ? "ContractID" : "ContractId",
                 buffer_text (&id));
    json_string (&json,
                 is_1_3 ? "ContractCommitmentID" : "ContractCommitmentId",
                 buffer_text (&id));
    json_number (&json, "ContractCommitmentAppliedQuantity",
                 buffer_text (&f->scratch));
    json_string (&json, "ContractCommitmentAppliedUnit",
                 focus_hours (f, row->pool));
    json_end_object (&json);
    json_end_array (&json);
    json_end_object (&json);
    buffer_done (&id);
}

/* Covered or not: the team's time in the pool could be. */
static void put_eligible (focus_t *f)
{
    json_t json = {&f->cell[C_CommitmentProgramEligibilityDetails], JSON_INLINE,
                   true, false};

    json_object (&json, NULL);
    json_array (&json, "CommitmentPrograms");
    json_object (&json, NULL);
    json_string (&json, "ProgramType", focus_commitment_type);
    json_end_object (&json);
    json_end_array (&json);
    json_end_object (&json);
}

void focus_put_commitment (focus_t *f, const line_item_t *row)
{
    if (!row->commitment)
        return;
    put_eligible (f);
    if (!focus_is_committed (row) && row->kind != LINE_ITEM_ENTITLEMENT)
        return;
    focus_put (f, C_CommitmentDiscountId, row->commitment);
    focus_put (f, C_CommitmentDiscountName, row->commitment);
    focus_put (f, C_CommitmentDiscountCategory, "Usage");
    focus_put (f, C_CommitmentDiscountType, focus_commitment_type);
    focus_put (f, C_CommitmentDiscountUnit, focus_hours (f, row->pool));
    focus_put_units (f, C_CommitmentDiscountQuantity, row->consumed_hours,
                     LINE_ITEM_DIGITS);
    if (row->kind == LINE_ITEM_ENTITLEMENT)
        return;
    focus_put (f, C_CommitmentDiscountStatus,
               row->kind == LINE_ITEM_UNUSED ? "Unused" : "Used");
    if (row->kind != LINE_ITEM_UNUSED)
        put_applied (f, row);
}
