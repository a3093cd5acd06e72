#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/network.h"

#include "counters/fetch.h"
#include "counting.h"

#define PROC "/proc"

/* A look under way. */
struct looking {
    counting_t *counting;
    const site_t *site;
    const holders_t *holders;
    size_t counters; /* of the site */
    int64_t boot_ms; /* when the machine was started */
    int64_t now_ms;
};

/* --- what is asked ------------------------------------------------------------ */

static size_t count_counters (const site_t *site)
{
    size_t count = 0;

    for (size_t i = 0; i < site->unit_count; i++)
        count += site->units[i].counters.count;
    return count;
}

/* In the order of the units. */
static scrape_counter_t *make_counters (const site_t *site, size_t count)
{
    scrape_counter_t *counter = xcalloc (count + 1, sizeof (*counter));
    size_t at = 0;

    for (size_t i = 0; i < site->unit_count; i++)
        for (size_t k = 0; k < site->units[i].counters.count; k++)
            counter[at++].name = site->units[i].counters.item[k];
    return counter;
}

static bool is_open (void *arg, int64_t job)
{
    return holders_job (arg, job) != NULL;
}

/* Of a job that this node has. */
static bool is_asked (const struct looking *look, const listener_t *l)
{
    return l->pid > 0 && holders_job (look->holders, l->job);
}

/* --- what was answered ----------------------------------------------------------- */

/* The unit's value: the sum of the counters that there are. */
static bool unit_value (const scrape_counter_t *counter, size_t count,
                        int64_t *ret_value)
{
    bool known = false;
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        if (counter[i].broken
            || __builtin_add_overflow (sum, counter[i].value, &sum)
            || sum > INT64_MAX)
            return false;
        known = known || counter[i].seen;
    }
    *ret_value = (int64_t)sum;
    return known;
}

static void take_answer (const struct looking *look, const listener_t *l,
                         const scrape_counter_t *counter)
{
    int64_t ticks = sysconf (_SC_CLK_TCK), value;
    int64_t born_ms
        = look->boot_ms + l->birth * 1000 / (ticks > 0 ? ticks : 100);

    for (size_t i = 0; i < look->site->unit_count; i++) {
        const site_unit_t *unit = &look->site->units[i];
        if (unit_value (counter, unit->counters.count, &value))
            produced_add (&look->counting->produced, l, unit->name, value,
                          born_ms, look->now_ms);
        counter += unit->counters.count;
    }
}

/* --- a look ------------------------------------------------------------------------ */

static size_t choose (const struct looking *look, fetch_t *fetch,
                      const listener_t **of)
{
    const listeners_t *listeners = &look->counting->listeners;
    size_t count = 0;

    for (size_t i = 0; i < listeners->count; i++) {
        if (!is_asked (look, &listeners->item[i]))
            continue;
        of[count] = &listeners->item[i];
        fetch[count].port = of[count]->port;
        fetch[count].scrape = xmalloc (sizeof (scrape_t));
        scrape_begin (fetch[count].scrape,
                      make_counters (look->site, look->counters),
                      look->counters);
        count++;
    }
    return count;
}

static void ask (const struct looking *look, unsigned *ret_failed,
                 gl_error_t *error)
{
    const listener_t *of[PORTS_MAX];
    fetch_t fetch[PORTS_MAX] = {0};
    size_t count = choose (look, fetch, of);

    fetch_all (fetch, count, COUNTING_TIMEOUT_MS);
    for (size_t i = 0; i < count; i++) {
        if (fetch[i].done)
            take_answer (look, of[i], fetch[i].scrape->counter);
        else {
            gl_error (error, "counters of port %d (job %" PRId64 "): %s",
                      of[i]->port, of[i]->job, fetch[i].error.text);
            ++*ret_failed;
        }
        free (fetch[i].scrape->counter);
        free (fetch[i].scrape);
    }
}

/* The time of the wall when the ticks of a process' start began. */
static int64_t boot_time_ms (int64_t now_ms)
{
    struct timespec up;

    clock_gettime (CLOCK_BOOTTIME, &up);
    return now_ms - (up.tv_sec * INT64_C (1000) + up.tv_nsec / 1000000);
}

void counting_look (counting_t *c, const site_t *site, const holders_t *holders,
                    int64_t now_ms, unsigned *ret_failed, gl_error_t *error)
{
    struct looking look = {.counting = c,
                           .site = site,
                           .holders = holders,
                           .counters = count_counters (site),
                           .boot_ms = boot_time_ms (now_ms),
                           .now_ms = now_ms};
    uint16_t ports[PORTS_MAX];
    int count = network_parse_ports (
        (const char *const *)site->agent.counter_ports.item,
        site->agent.counter_ports.count, ports, error);

    *ret_failed = 0;
    if ((count <= 0 || look.counters == 0) && c->produced.sum_count == 0)
        return;
    if (c->produced.last_ms <= now_ms
        && now_ms - c->produced.last_ms < COUNTING_INTERVAL_MS)
        return;
    produced_begin (&c->produced, now_ms);
    listeners_look (&c->listeners, PROC, ports, count > 0 ? (size_t)count : 0);
    if (look.counters > 0)
        ask (&look, ret_failed, error);
    produced_end (&c->produced, &c->listeners, is_open, (void *)holders,
                  now_ms);
}
