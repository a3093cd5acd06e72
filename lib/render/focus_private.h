/*
 * focus_private.h: the columns, and functions shared by focus.c (amounts,
 * periods, parties), focus_words.c (resources, SKUs, tags, our own columns),
 * focus_invoice.c (lines of invoices, and the datasets that are made of them),
 * focus_commitment.c (covered hours) and focus_contract.c (contracts).
 *
 * Each focus_put_* fills its cells of the current row from a billing line item;
 * other cells stay empty, which is null. Texts are borrowed for the call,
 * escaped when the row is written. Nothing here fails.
 */
#ifndef GL_RENDER_FOCUS_PRIVATE_H
#define GL_RENDER_FOCUS_PRIVATE_H

#include <gmp.h>

#include "render/focus.h"

#define LAST FOCUS_VERSION_COUNT

/* Name, is it a number, the first version that has it, the first without. The
 * order is the file's: FOCUS' own by name, then ours. */
#define FOCUS_COLUMNS(X)                                            \
    X (AllocatedMethodDetails, false, FOCUS_1_3, LAST)              \
    X (AllocatedMethodId, false, FOCUS_1_3, LAST)                   \
    X (AllocatedResourceId, false, FOCUS_1_3, LAST)                 \
    X (AllocatedResourceName, false, FOCUS_1_3, LAST)               \
    X (AllocatedTags, false, FOCUS_1_3, LAST)                       \
    X (AvailabilityZone, false, FOCUS_1_2, LAST)                    \
    X (BilledCost, true, FOCUS_1_2, LAST)                           \
    X (BillingAccountId, false, FOCUS_1_2, LAST)                    \
    X (BillingAccountName, false, FOCUS_1_2, LAST)                  \
    X (BillingAccountType, false, FOCUS_1_2, LAST)                  \
    X (BillingCurrency, false, FOCUS_1_2, LAST)                     \
    X (BillingPeriodEnd, false, FOCUS_1_2, LAST)                    \
    X (BillingPeriodStart, false, FOCUS_1_2, LAST)                  \
    X (CapacityReservationId, false, FOCUS_1_2, LAST)               \
    X (CapacityReservationStatus, false, FOCUS_1_2, LAST)           \
    X (ChargeCategory, false, FOCUS_1_2, LAST)                      \
    X (ChargeClass, false, FOCUS_1_2, LAST)                         \
    X (ChargeDescription, false, FOCUS_1_2, LAST)                   \
    X (ChargeFrequency, false, FOCUS_1_2, LAST)                     \
    X (ChargePeriodEnd, false, FOCUS_1_2, LAST)                     \
    X (ChargePeriodStart, false, FOCUS_1_2, LAST)                   \
    X (CommitmentDiscountCategory, false, FOCUS_1_2, LAST)          \
    X (CommitmentDiscountId, false, FOCUS_1_2, LAST)                \
    X (CommitmentDiscountName, false, FOCUS_1_2, LAST)              \
    X (CommitmentDiscountQuantity, true, FOCUS_1_2, LAST)           \
    X (CommitmentDiscountStatus, false, FOCUS_1_2, LAST)            \
    X (CommitmentDiscountType, false, FOCUS_1_2, LAST)              \
    X (CommitmentDiscountUnit, false, FOCUS_1_2, LAST)              \
    X (CommitmentProgramEligibilityDetails, false, FOCUS_1_4, LAST) \
    X (ConsumedQuantity, true, FOCUS_1_2, LAST)                     \
    X (ConsumedUnit, false, FOCUS_1_2, LAST)                        \
    X (ContractApplied, false, FOCUS_1_3, LAST)                     \
    X (ContractedCost, true, FOCUS_1_2, LAST)                       \
    X (ContractedUnitPrice, true, FOCUS_1_2, LAST)                  \
    X (EffectiveCost, true, FOCUS_1_2, LAST)                        \
    X (HostProviderName, false, FOCUS_1_3, LAST)                    \
    X (InvoiceDetailId, false, FOCUS_1_4, LAST)                     \
    X (InvoiceId, false, FOCUS_1_2, LAST)                           \
    X (InvoiceIssuerName, false, FOCUS_1_2, LAST)                   \
    X (ListCost, true, FOCUS_1_2, LAST)                             \
    X (ListUnitPrice, true, FOCUS_1_2, LAST)                        \
    X (PricingCategory, false, FOCUS_1_2, LAST)                     \
    X (PricingCurrency, false, FOCUS_1_2, LAST)                     \
    X (PricingCurrencyContractedUnitPrice, true, FOCUS_1_2, LAST)   \
    X (PricingCurrencyEffectiveCost, true, FOCUS_1_2, LAST)         \
    X (PricingCurrencyListUnitPrice, true, FOCUS_1_2, LAST)         \
    X (PricingQuantity, true, FOCUS_1_2, LAST)                      \
    X (PricingUnit, false, FOCUS_1_2, LAST)                         \
    X (ProviderName, false, FOCUS_1_2, FOCUS_1_4)                   \
    X (PublisherName, false, FOCUS_1_2, FOCUS_1_4)                  \
    X (RegionId, false, FOCUS_1_2, LAST)                            \
    X (RegionName, false, FOCUS_1_2, LAST)                          \
    X (ResourceId, false, FOCUS_1_2, LAST)                          \
    X (ResourceName, false, FOCUS_1_2, LAST)                        \
    X (ResourceType, false, FOCUS_1_2, LAST)                        \
    X (ServiceCategory, false, FOCUS_1_2, LAST)                     \
    X (ServiceName, false, FOCUS_1_2, LAST)                         \
    X (ServiceProviderName, false, FOCUS_1_3, LAST)                 \
    X (ServiceSubcategory, false, FOCUS_1_2, LAST)                  \
    X (SkuId, false, FOCUS_1_2, LAST)                               \
    X (SkuMeter, false, FOCUS_1_2, LAST)                            \
    X (SkuPriceDetails, false, FOCUS_1_2, LAST)                     \
    X (SkuPriceId, false, FOCUS_1_2, LAST)                          \
    X (SubAccountId, false, FOCUS_1_2, LAST)                        \
    X (SubAccountName, false, FOCUS_1_2, LAST)                      \
    X (SubAccountType, false, FOCUS_1_2, LAST)                      \
    X (Tags, false, FOCUS_1_2, LAST)                                \
    X (x_SlurmCluster, false, FOCUS_1_2, LAST)                      \
    X (x_SlurmJobId, false, FOCUS_1_2, LAST)                        \
    X (x_SlurmDbIndex, false, FOCUS_1_2, LAST)                      \
    X (x_SlurmSubmitTime, false, FOCUS_1_2, LAST)                   \
    X (x_SlurmAccount, false, FOCUS_1_2, LAST)                      \
    X (x_SlurmUser, false, FOCUS_1_2, LAST)                         \
    X (x_SlurmPartition, false, FOCUS_1_2, LAST)                    \
    X (x_SlurmQos, false, FOCUS_1_2, LAST)                          \
    X (x_JobState, false, FOCUS_1_2, LAST)                          \
    X (x_SliceStart, false, FOCUS_1_2, LAST)                        \
    X (x_SliceEnd, false, FOCUS_1_2, LAST)                          \
    X (x_Pool, false, FOCUS_1_2, LAST)                              \
    X (x_GresType, false, FOCUS_1_2, LAST)                          \
    X (x_DeviceCount, true, FOCUS_1_2, LAST)                        \
    X (x_GpuHours, true, FOCUS_1_2, LAST)                           \
    X (x_GpuUtilization, true, FOCUS_1_2, LAST)                     \
    X (x_EnergyKwh, true, FOCUS_1_2, LAST)                          \
    X (x_IdleClass, false, FOCUS_1_2, LAST)                         \
    X (x_RowKind, false, FOCUS_1_2, LAST)                           \
    X (x_Reference, false, FOCUS_1_2, LAST)                         \
    X (x_Fund, false, FOCUS_1_2, LAST)                              \
    X (x_FullCost, true, FOCUS_1_2, LAST)                           \
    X (x_CloudEquivalentCost, true, FOCUS_1_2, LAST)                \
    X (x_CloudPriceDate, false, FOCUS_1_2, LAST)                    \
    X (x_RateCardVersion, false, FOCUS_1_2, LAST)                   \
    X (x_ResourceName, false, FOCUS_1_2, LAST)                      \
    X (x_ChargeDescription, false, FOCUS_1_2, LAST)

#define AS_ENUM(name, number, first, until) C_##name,
enum { FOCUS_COLUMNS (AS_ENUM) FOCUS_COLUMN_COUNT };

/* The file that is being written, and its row. */
struct focus {
    const site_t *site;
    const site_t *book;      /* with pools and teams */
    const site_team_t *team; /* of the last row */
    period_t month;
    char month_name[ZONE_STAMP_SIZE];
    bool provisional;
    focus_customer_t customer;
    focus_version_t version;
    buffer_t cell[FOCUS_COLUMN_COUNT];
    focus_column_t shown[FOCUS_COLUMN_COUNT];
    size_t at[FOCUS_COLUMN_COUNT]; /* of the shown ones */
    size_t count;
    const char *text[FOCUS_COLUMN_COUNT];
    mpz_t product;
    buffer_t digits, scratch;
    line_item_t part; /* of a row that draws on an entitlement */
};

/* Adds to a cell. */
void focus_put (focus_t *focus, size_t column, const char *text);
void focus_put_id (focus_t *focus, size_t column, const char *prefix,
                   const char *text);
void focus_put_time (focus_t *focus, size_t column, int64_t instant);
void focus_put_units (focus_t *focus, size_t column, mpz_srcptr units,
                      size_t digits);
/* Onto any text: UTC with Z, whatever the ledger's zone. */
void focus_add_time (buffer_t *out, int64_t instant);
/* `units` of 10^-`digits`, with all of the digits: "-0.0100000000". */
void focus_add_units (focus_t *focus, buffer_t *out, mpz_srcptr units,
                      size_t digits);
void focus_copy (focus_t *focus, size_t to, size_t from);

/* "CPU" where the pool counts CPUs, else "GPU"; and "CPU-Hours", "GPU-Hours". */
const char *focus_resource (const focus_t *focus, const char *pool);
const char *focus_hours (const focus_t *focus, const char *pool);

/* The unit in FOCUS's words: "TB-Months", or "Units" for one that it has no word
 * for. */
const char *focus_unit (const char *unit);
/* Of another service, or a correction of one. */
bool focus_is_service (const line_item_t *row);
bool focus_is_idle_time (const line_item_t *row);
/* A shard or a unit of MPS: several hold one GPU. */
bool focus_is_part (const line_item_t *row);

void focus_put_resource (focus_t *focus, const line_item_t *row);
void focus_put_sku (focus_t *focus, const line_item_t *row);
void focus_put_description (focus_t *focus, const line_item_t *row);
void focus_put_tags (focus_t *focus, const line_item_t *row);
/* Which part of what it is, and for whom. */
void focus_put_split (focus_t *focus, const line_item_t *row);
void focus_put_own (focus_t *focus, const line_item_t *row);

/* --- focus_commitment.c --- */

/* The type of all of them. */
extern const char focus_commitment_type[];

/* The contract of the month: "vision/h100/2026-10". */
void focus_add_contract (const focus_t *focus, buffer_t *out,
                         const char *commitment);

/* Prepaid, as a whole: a row of its own. */
bool focus_is_committed (const line_item_t *row);
/* The part of a row that is, or the rest of it; false: it has none. */
bool focus_take_part (line_item_t *ret_part, const line_item_t *row,
                      bool committed);
void focus_put_commitment (focus_t *focus, const line_item_t *row);

/* --- focus_invoice.c --- */
/* The line of it that the row is of: "charge/h100/normal/-". */
void focus_add_line (buffer_t *out, const line_item_t *row);

/* A row of a dataset that is no charge, cell by cell. */
typedef struct {
    buffer_t *out;
    bool begun;
} focus_line_t;

void focus_put_cell (focus_line_t *line, const char *text, bool is_text);
void focus_put_instant (focus_line_t *line, focus_t *focus, int64_t instant);
void focus_add_names (buffer_t *out, const char *const *names, size_t count);

#endif /* !GL_RENDER_FOCUS_PRIVATE_H */
