/*
 * truth.h: what jobs held, counted a second time.
 *
 * Shares no code with the product: zones are those of the C library
 * (localtime_r), a cell is an element of an array, and time is told as it
 * happened, not as Slurm writes it down.
 */
#ifndef UGLY_TRUTH_H
#define UGLY_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACCOUNTS 30

/* [from, to), seconds since 1970 UTC */
typedef struct {
    int64_t from, to;
} span_t;

/* One uninterrupted time for which a job held the same devices. */
typedef struct {
    uint64_t id;      /* JobId; stays of one id follow one another */
    unsigned user;    /* 0: nobody knows */
    unsigned account; /* below ACCOUNTS */
    span_t held;
    uint64_t devices;
    bool told; /* accounting has the devices; else the job is an unknown one */
    const span_t *pauses; /* when it was suspended */
    size_t pause_count;
    bool only_total; /* accounting has the sum of the pauses and not when */
} stay_t;

typedef struct truth truth_t;

/* Jobs hold devices within `all` only. user_count: with user 0. */
truth_t *truth_new (span_t all, unsigned user_count);
void truth_free (truth_t *truth);
void truth_add (truth_t *truth, const stay_t *stay);

/* The midnight before `at` in one of the zones, by any number. */
int64_t truth_midnight (const truth_t *truth, uint64_t number, int64_t at);

/* DIR/ZONE.KEYS (New_York.user-month): a line for each cell with time,
 * KEY|...|jobs|segments|unknown_jobs|gres_seconds|suspended_gres_seconds. */
void truth_write (const truth_t *truth, const char *dir,
                  void (*user_name) (unsigned user, char name[32]),
                  void (*account_name) (unsigned account, char name[32]));

#endif /* !UGLY_TRUTH_H */
