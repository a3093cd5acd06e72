/* export_private.h: what the rows of an export are made with. */
#ifndef GL_EXPORT_PRIVATE_H
#define GL_EXPORT_PRIVATE_H

#include "ledger/cube.h"
#include "export/export.h"

enum {
    F_MONTH,
    F_MONTH_START,
    F_MONTH_END,
    F_FISCAL_YEAR,
    F_FISCAL_PERIOD,
    F_STATE,
    F_VERSION,
    F_HASH,
    F_CLOSED,
    F_CURRENCY,
    F_ISSUER,
    F_TEAM,
    F_COST_CENTER,
    F_INSTITUTION,
    F_PI,
    F_EMAIL,
    F_BILLING_ADDRESS,
    F_CLASS,
    F_PLAN,
    F_INVOICE,
    F_COST_OBJECT,
    F_KIND,
    F_WHAT,
    F_SERVICE_MONTH,
    F_POOL,
    F_GPU,
    F_PROFILE,
    F_ACCOUNT,
    F_CLUSTER,
    F_USER,
    F_PROJECT,
    F_QOS,
    F_PARTITION,
    F_GRES_TYPE,
    F_REFERENCE,
    F_REASON,
    F_DESCRIPTION,
    F_UNIT,
    F_SERVICE_CATEGORY,
    F_COUNTERPARTY,
    F_DISPUTED,
    F_NUMBER,
    F_JOB,
    F_JOB_NAME,
    F_JOB_STATE,
    F_LABELS,
    F_RESERVATION,
    F_DAY,
    F_LEDGER_ACCOUNT,
    F_LEDGER_CLASS,
    F_TRANSACTION,
    F_FUND,
    F_SIDE,
    F_AMOUNT,
    F_LIST,
    F_COST,
    F_DEBIT,
    F_CREDIT,
    F_GPU_HOURS,
    F_CPU_HOURS,
    F_QUANTITY,
    F_RATE,
    F_LINES,
    F_ROW,
    F_ROWS,
    F_COUNT,
};

extern const export_field_t export_field[F_COUNT];

/* A text of single rows. */
static inline bool export_is_of_rows (const export_field_t *field)
{
    return field->level == EXPORT_OF_TEAM || field->level == EXPORT_OF_ROW;
}

enum { MONEY_AMOUNT, MONEY_LIST, MONEY_COST, MONEY_COUNT };
enum { HOURS_GPU, HOURS_CPU, HOURS_QUANTITY, HOURS_COUNT };

/* A packed one, as a cube has it, ends with the texts that the layout uses, in the order
 * of `slot`; other sums than it uses are not initialised. */
struct export_row {
    mpz_t money[MONEY_COUNT];
    mpq_t hours[HOURS_COUNT];
    uint64_t lines;
    uint64_t order;      /* of a row that is not grouped */
    char *text[F_COUNT]; /* borrowed, but in a cube */
    /* as written */
    uint64_t row, rows;
    int digits;
    mpz_t debit, credit; /* of the whole */
    bool whole;
};

#define EXPORT_ORDER "#" /* of a cube; no name of a field */

struct export
{
    const export_layout_t *layout;
    const export_month_t *month;
    export_row_f write;
    void *arg;
    export_record_t columns, first, trailer;
    bool used[F_COUNT];
    bool grouped[F_COUNT];
    size_t slot[F_COUNT]; /* of packed rows: their texts */
    size_t slot_count;
    field_t *field; /* of packed rows */
    fields_t cube_fields;
    cube_t *cube;    /* NULL: rows are written as they come */
    export_row_t in; /* the one that is made */
    export_row_t packed;
    export_row_t out;   /* and the one that is written */
    export_row_t total; /* of what was written */
    mpz_t
        source[MONEY_COUNT]; /* running totals: of what came, with all digits */
    mpz_t written[MONEY_COUNT]; /* and of what was written */
    int source_digits;
    char start[11], end[11], year[12], period[16];
    char *invoice, *number; /* of the row in hand */
    char job[24], day[ZONE_STAMP_SIZE];
    const site_team_t *team; /* of the last row */
};

/* Units of 10^-digits as a number. */
void export_set_money (mpq_t ret_value, mpz_srcptr units, int digits);
/* The sums of a row and their fields. */
extern const struct export_sum {
    size_t field, at;
    field_type_t type;
} export_sums[];
#define EXPORT_SUMS 7
/* The table of fields of packed rows, once it is known what is used. */
void export_describe_rows (export_t *export);
/* The layout against the fields; the cube, if it wants one. */
int export_read_layout (export_t *export, gl_error_t *error);

#endif /* !GL_EXPORT_PRIVATE_H */
