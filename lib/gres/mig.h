/*
 * mig.h: what part of a GPU a slice is, exactly: a MIG slice of NVIDIA, or a
 * compute partition of an AMD Instinct, which counts like one.
 *
 * A profile is g of G compute slices and m of M memory slices (of MIG 7 and 8, 4
 * and 4 on the A30; of an MI300X 8 and 8: "cpx" is 1/8). Its weight is g/G, m/M or the larger of both, by choice of the
 * site (docs/formats/reports.md). The name alone does not tell: 1g.10gb has 2/8
 * of the memory of an A100 with 40 GB and 1/8 of an 80 GB card. An unknown
 * profile is an error, never a whole GPU.
 *
 * Pure: a constant table plus the site's own, passed in.
 */
#ifndef GL_GRES_MIG_H
#define GL_GRES_MIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/exact.h"

typedef enum {
    MIG_COMPUTE,
    MIG_MEMORY,
    MIG_MAX, /* for prices only: the sum over a card may exceed 1 */
    MIG_BASIS_COUNT,
} mig_basis_t;

/* "compute", "memory", "max". */
const char *mig_basis_name (mig_basis_t basis);

typedef struct {
    const char *model;   /* "H100-80GB"; NULL in a site's row: any model */
    const char *profile; /* "3g.40gb" */
    int compute;         /* slices of compute_total */
    int compute_total;
    int memory; /* slices of memory_total */
    int memory_total;
    int max_instances; /* alone on one GPU; 0: not known */
} mig_profile_t;

/* Profiles that a site defines: they come before the built-in ones. Borrowed
 * for the call. A NULL pointer is an empty table. */
typedef struct {
    const mig_profile_t *profiles;
    size_t count;
} mig_table_t;

/* The built-in table, for lists and documentation. */
const mig_profile_t *mig_profiles (size_t *ret_count);

/* The table's name of a GPU model: "H100-SXM5-80GB", "nvidia_h100_pcie_80gb"
 * and "H100-80GB" are all "H100-80GB". NULL for a model without built-in
 * profiles. Case, blanks, '-' and '_' do not matter, nor a leading NVIDIA, AMD
 * or Instinct. */
const char *mig_model (const char *name);

/* The profile within a Slurm type: "1g.10gb" in "1g.10gb",
 * "nvidia_h100_80gb_hbm3_1g.10gb" and "a100_1g.10gb_shared", "cpx" in
 * "mi300x_cpx" and "mi300x-cpx-nps4"; attributes
 * ("+me") and compute instances ("1c.3g.20gb") belong to it. False for a type
 * without one: a whole GPU. */
bool mig_profile_in_type (const char *type, size_t type_length,
                          const char **ret_profile, size_t *ret_length);

/* The weight of a profile on a model. Without a model (NULL) it is given only
 * if all models that have such a profile agree; else -1, "ambiguous". */
int mig_weight (const mig_table_t *site, const char *model, const char *profile,
                size_t profile_length, mig_basis_t basis,
                fraction_t *ret_weight, gl_error_t *error);

/* The weight of a device by its Slurm type (NULL: untyped). A type without a
 * profile is a whole GPU: 1. Without a model, a GPU named in the type
 * ("h100_1g.10gb") narrows the choice. */
int mig_type_weight (const mig_table_t *site, const char *model,
                     const char *type, size_t type_length, mig_basis_t basis,
                     fraction_t *ret_weight, gl_error_t *error);

/* A layout of `gpus` cards, "1g.10gb:4,3g.40gb:1": the sum of the weights, and
 * what is left of the cards (gpus - sum; negative is possible with MIG_MAX
 * only), and how many of them it takes at least. -1 for a layout that does not
 * fit on so many GPUs, or if gpus is not within 1..MIG_GPUS_MAX. Each result may
 * be NULL. */
#define MIG_GPUS_MAX 1024
int mig_layout (const mig_table_t *site, const char *model, const char *layout,
                int gpus, mig_basis_t basis, fraction_t *ret_sum,
                fraction_t *ret_remainder, int64_t *ret_cards,
                gl_error_t *error);

#endif /* !GL_GRES_MIG_H */
