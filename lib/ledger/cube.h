/*
 * cube.h: rows that one table of fields describes (ledger/fields.h), grouped by
 * some of these fields; measures add up. The groups can be filtered, sorted,
 * added up again and compared with those of another cube.
 *
 *   cube_t *cube = cube_new (&bill_fields[BILL_POSTINGS], "pool,qos");
 *   cube_where (cube, "team", "vision");
 *   cube_add_list (cube, rows, count);
 *   cube_sort (cube, "-charge");
 *   for (size_t i = 0; i < cube_count (cube); i++)
 *       ... (const posting_t *)cube_row (cube, i) ...
 *
 * A group is a row of the same struct: the key fields and the sums of the
 * measures; other fields are absent. Rows come in the order of cube_sort(),
 * then by the keys: never in that of the input. A name that is no field of the
 * rows is a defect and aborts. Pure. An object belongs to one thread.
 */
#ifndef GL_LEDGER_CUBE_H
#define GL_LEDGER_CUBE_H

#include "ledger/fields.h"

typedef struct cube cube_t;

/* `by`: names of fields, "pool,qos", in the order of the keys; "": one group.
 * The table of fields must outlive it. */
cube_t *cube_new (const fields_t *fields, const char *by);
/* Accepts NULL. */
void cube_free (cube_t *cube);

/* Of the measures only these are added up, "list,gpu_seconds"; the others are absent. Before
 * the first row. */
void cube_measures (cube_t *cube, const char *names);

/* --- filters: of the rows that are added from now on ---------------------- */

/* The field has this value, as its canonical text (NULL: it is absent). */
void cube_where (cube_t *cube, const char *field, const char *value);
typedef bool (*cube_wants_f) (const void *row, void *arg);
void cube_where_wanted (cube_t *cube, cube_wants_f wants, void *arg);

/* --- rows in -------------------------------------------------------------- */

/* The group that the row was added to, valid as long as the cube; NULL: the row
 * does not pass the filters. */
void *cube_add (cube_t *cube, const void *row);
/* The same, and keeps where the row comes from: cube_members(). */
void *cube_add_at (cube_t *cube, const void *row, size_t index);
/* `rows`: an array of these structs. */
void cube_add_list (cube_t *cube, const void *rows, size_t count);
/* The groups of another cube of the same fields, as rows: a coarser grouping.
 */
void cube_add_cube (cube_t *cube, cube_t *from);

/* --- groups out ----------------------------------------------------------- */

/* Names of fields, the first one first, "-" before what is to descend:
 * "-charge,team". */
void cube_sort (cube_t *cube, const char *order);

size_t cube_count (const cube_t *cube);
/* In order; borrowed. */
const void *cube_row (cube_t *cube, size_t index);
/* Moves it into an initialised row; in the cube it is empty then. */
void cube_hand_over (cube_t *cube, size_t index, void *ret_row);
/* The group of the keys of this row; NULL: there is none. */
const void *cube_find (const cube_t *cube, const void *keys);
/* The indexes of its rows, in the order in which cube_add_at() got them; of no
 * group NULL and 0. */
const size_t *cube_members (const cube_t *cube, const void *keys,
                            size_t *ret_count);

/* The groups [first, end) as one, into an initialised row: keys that they
 * share, and sums. Of all groups that is the total, of those behind the first N
 * the rest. */
void cube_sum (cube_t *cube, size_t first, size_t end, void *ret_row);
/* The end of the groups from `first` on that agree with it in the first `keys`
 * keys: a subtotal is their cube_sum(). For cubes in the order of their keys.
 */
size_t cube_same (cube_t *cube, size_t first, size_t keys);

/* --- two cubes ------------------------------------------------------------ */

/*
 * later - earlier, of two cubes of the same fields and keys, which must outlive
 * it. Each group has its two sides. Groups without a difference are left out,
 * unless `all`.
 */
cube_t *cube_difference (const cube_t *later, const cube_t *earlier, bool all);
/* The sides of a group; NULL: that cube has no such group. */
const void *cube_later (cube_t *difference, size_t index);
const void *cube_earlier (cube_t *difference, size_t index);

#endif /* !GL_LEDGER_CUBE_H */
