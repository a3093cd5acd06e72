/* agent_counters.c: what servers of jobs answer, whose they are, and what is made of
 * their counters. */
#include <config.h>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

#include "base/number.h"
#include "base/network.h"
#include "counters/listeners.h"
#include "counters/scrape.h"
#include "produced.h"

/* --- numbers ------------------------------------------------------------------- */

TEST_CASE (number_decimal__exponents_and_fractions__exactly)
{
    static const struct {
        const char *text;
        uint64_t whole;
        bool exact;
    } good[] = {
        {"0", 0, true},
        {"1.2e9", 1200000000, true},
        {"1.234567e+06", 1234567, true},
        {"12.50", 12, false},
        {"12.00", 12, true},
        {"1e-3", 0, false},
        {"0e9999", 0, true},
        {"1234e-2", 12, false},
        {"1200e-2", 12, true},
        {".5e1", 5, true},
        {"18446744073709551615", UINT64_MAX, true},
        {"1.8446744073709551615e19", UINT64_MAX, true},
        {"5.", 5, true},
    };
    static const char *const bad[]
        = {"",    ".",   "e5",      "1e",   "1e+",
           "-1",  "+1",  "1..2",    "NaN",  "Inf",
           "0x1", "1 2", "1e99999", "1e20", "18446744073709551616"};

    for (size_t i = 0; i < sizeof (good) / sizeof (good[0]); i++) {
        uint64_t whole;
        bool exact;
        assert_int_equal (number_decimal (good[i].text, strlen (good[i].text),
                                          &whole, &exact),
                          0);
        assert_true (whole == good[i].whole);
        assert_int_equal (exact, good[i].exact);
    }
    for (size_t i = 0; i < sizeof (bad) / sizeof (bad[0]); i++) {
        uint64_t whole;
        bool exact;
        assert_int_equal (
            number_decimal (bad[i], strlen (bad[i]), &whole, &exact), -1);
    }
}

TEST_CASE (parse_ports__ranges__each_once)
{
    static const char *const good[] = {"8000", "8001-8003", "8002-8004"};
    static const char *const bad[]
        = {"0", "65536", "8001-8000", "80-", "1-100", "x", ""};
    uint16_t ports[PORTS_MAX];

    assert_int_equal (network_parse_ports (good, 3, ports, NULL), 5);
    for (uint16_t i = 0; i < 5; i++)
        assert_int_equal (ports[i], 8000 + i);
    for (size_t i = 0; i < sizeof (bad) / sizeof (bad[0]); i++)
        assert_int_equal (network_parse_ports (&bad[i], 1, ports, NULL), -1);
}

/* --- answers --------------------------------------------------------------------- */

#define GENERATED "vllm:generation_tokens_total"
#define PROMPT "vllm:prompt_tokens_total"
#define TEXT                                                           \
    "# HELP " GENERATED " Number of generation tokens processed.\n"    \
    "# TYPE " GENERATED " counter\n" GENERATED                         \
    "{engine=\"0\",model_name=\"a } b\\\" c\"} 1.2345e+04\n" GENERATED \
    "{engine=\"1\",model_name=\"m\"} 55.0 1790812800000\n" GENERATED   \
    "_created{engine=\"0\"} 1.79e+09\n" PROMPT " 7"

struct said {
    int rc;
    scrape_counter_t counter[2];
};

/* In parts of `step` bytes, then closed. */
static struct said ask (const char *answer, size_t size, size_t step)
{
    struct said said = {.counter = {{.name = GENERATED}, {.name = PROMPT}}};
    scrape_t scrape;
    gl_error_t error;

    scrape_begin (&scrape, said.counter, 2);
    for (size_t at = 0; at < size && said.rc == 0; at += step)
        said.rc = scrape_feed (&scrape, answer + at,
                               size - at < step ? size - at : step, &error);
    if (said.rc == 0)
        said.rc = scrape_end (&scrape, &error) == 0 ? 1 : -1;
    return said;
}

TEST_CASE (scrape__vllm__in_any_parts)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" TEXT,
        "HTTP/1.0 200 OK\r\n\r\n" TEXT "\n",
        "HTTP/1.1 200\r\ntransfer-encoding: chunked\r\n\r\n"
        "35\r\n# TYPE " GENERATED " counter\nvllm:gene"
        "\r\n19;x=1\r\nration_tokens_total 12400\r\n"
        "1c\r\n\n" PROMPT " 7\n\r\n0\r\n\r\n",
    };

    for (size_t i = 0; i < sizeof (answers) / sizeof (answers[0]); i++)
        for (size_t step = 1; step < 400; step++) {
            struct said said = ask (answers[i], strlen (answers[i]), step);
            assert_int_equal (said.rc, 1);
            assert_true (said.counter[0].seen && !said.counter[0].broken);
            assert_int_equal (said.counter[0].value, 12400);
            assert_int_equal (said.counter[1].value, 7);
        }
}

TEST_CASE (scrape__a_length__ends_the_answer)
{
    const char *text = "HTTP/1.1 200 OK\r\nContent-Length: 27\r\n\r\n" PROMPT
                       " 7\n" PROMPT " 9\n";
    struct said said = ask (text, strlen (text), 3);

    assert_int_equal (said.rc, 1);
    assert_int_equal (said.counter[1].value, 7);
    assert_int_equal (ask (text, strlen (text) - 40, 3).rc, -1);
}

TEST_CASE (scrape__no_answer__is_refused)
{
    static const char *const bad[] = {
        "",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://10.0.0.1/\r\n\r\n",
        "HTTP/1.1 401 Unauthorized\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" PROMPT " 7\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "HTTP/1.1 200 OK\r\n",
    };

    for (size_t i = 0; i < sizeof (bad) / sizeof (bad[0]); i++)
        assert_int_equal (ask (bad[i], strlen (bad[i]), 7).rc, -1);
}

TEST_CASE (scrape__endless__is_refused)
{
    size_t size = SCRAPE_BYTES_MAX + 1000;
    char *bytes = malloc (size);
    int length = sprintf (bytes, "HTTP/1.1 200 OK\r\n\r\n" PROMPT " 7\n");

    memset (bytes + length, 'a', size - (size_t)length);
    assert_int_equal (ask (bytes, size, 16384).rc, -1);
    /* a line that is too long is passed over, in a header it is none */
    assert_int_equal (ask (bytes, 100000, 16384).rc, 1);
    memset (bytes + 17, 'a', size - 17);
    assert_int_equal (ask (bytes, 100000, 16384).rc, -1);
    free (bytes);
}

TEST_CASE (scrape_line__hostile__is_unknown_or_passed_over)
{
    static const struct {
        const char *line;
        bool seen, broken;
    } lines[] = {
        {PROMPT " NaN", true, true},
        {PROMPT " +Inf", true, true},
        {PROMPT " -1", true, true},
        {PROMPT " 1e99", true, true},
        {PROMPT " 9223372036854775808", true, true},
        {PROMPT, false, false},
        {PROMPT "{", false, false},
        {PROMPT "{a=\"} 7", false, false},
        {PROMPT "{a=\"\\", false, false},
        {PROMPT "2 7", false, false},
        {"x" PROMPT " 7", false, false},
        {" ", false, false},
        {"{} 7", false, false},
        {PROMPT "\t7", true, false},
        {PROMPT "{} 7", true, false},
    };

    for (size_t i = 0; i < sizeof (lines) / sizeof (lines[0]); i++) {
        scrape_counter_t counter = {.name = PROMPT};
        /* of its own memory, so that reading past it is found */
        size_t length = strlen (lines[i].line);
        char *line = malloc (length + 1);
        memcpy (line, lines[i].line, length);
        scrape_line (&counter, 1, line, length);
        free (line);
        assert_int_equal (counter.seen, lines[i].seen);
        assert_int_equal (counter.broken, lines[i].broken);
    }
}

/* --- whose server it is --------------------------------------------------------------- */

static char proc[] = "/tmp/gpuledger-proc.XXXXXX";

static void put (int pid, const char *name, const char *text)
{
    char path[128];
    FILE *file;

    snprintf (path, sizeof (path), "%s/%d", proc, pid);
    mkdir (path, 0700);
    snprintf (path, sizeof (path), "%s/%d/%s", proc, pid, name);
    file = fopen (path, "w");
    assert_non_null (file);
    fputs (text, file);
    fclose (file);
}

static void put_stat (int pid, int parent)
{
    char text[128];

    snprintf (text, sizeof (text),
              "%d (a ) b) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0\n",
              pid, parent);
    put (pid, "stat", text);
}

TEST_CASE (listener_job__cgroup__of_slurmd_alone)
{
    static const struct {
        const char *cgroup;
        int64_t job;
    } cases[] = {
        {"0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n",
         4711},
        {"0::/system.slice/g1_slurmstepd.scope/job_4711/step_batch\n", 4711},
        {"4:memory:/slurm/uid_1000/job_12/step_0\n", 12},
        {"3:cpu:/\n4:memory:/slurm_g1/uid_1000/job_12/step_0/task_1\n", 12},
        {"0::/user.slice/user-1000.slice/slurmstepd.scope/job_1/step_0\n", 0},
        {"0::/system.slice/x.scope/job_1\n", 0},
        {"0::/system.slice/slurmstepd.scope/system\n", 0},
        {"0::/slurmfake/job_1\n", 0},
        {"0::/system.slice/slurmstepd.scope/job_x\n", 0},
        {"0::/system.slice/slurmstepd.scope/job_99999999999999999999\n", 0},
        {"", 0},
        {"0:", 0},
    };

    put_stat (10, 1);
    put (10, "comm", "python3\n");
    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        put (10, "cgroup", cases[i].cgroup);
        assert_int_equal (listener_job (proc, 10), cases[i].job);
    }
}

/* Without cgroups the slurmstepd above it says the job, if it is root's, or here ours. */
TEST_CASE (listener_job__ancestors__up_to_a_slurmstepd_of_root)
{
    char ours[64];

    snprintf (ours, sizeof (ours), "Name:\tx\nUid:\t%u\t%u\t%u\t%u\n",
              (unsigned)geteuid (), (unsigned)geteuid (), (unsigned)geteuid (),
              (unsigned)geteuid ());
    put (20, "cgroup", "0::/\n");
    put_stat (20, 21);
    put (20, "comm", "python3\n");
    put_stat (21, 22);
    put (21, "comm", "slurm_script\n");
    put_stat (22, 1);
    put (22, "comm", "slurmstepd\n");
    put (22, "cmdline", "slurmstepd: [4711.batch]");
    put (22, "status", ours);
    assert_int_equal (listener_job (proc, 20), 4711);
    put (22, "status", "Name:\tx\nUid:\t4242\t4242\t4242\t4242\n");
    assert_int_equal (listener_job (proc, 20), 0);
    put (22, "status", ours);
    put (22, "cmdline", "slurmstepd: [x.0]");
    assert_int_equal (listener_job (proc, 20), 0);
    put_stat (22, 20); /* in a circle */
    put (22, "comm", "bash\n");
    assert_int_equal (listener_job (proc, 20), 0);
}

/* A socket on 127.0.0.1 is closer than one on every address. */
TEST_CASE (listeners_look__sockets__the_one_that_is_reached)
{
    static const uint16_t ports[] = {8000, 8001};
    static const char lines[]
        = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when "
          "retrnsmt   uid  timeout inode\n"
          "   0: 00000000:1F40 00000000:0000 0A 00000000:00000000 00:00000000 "
          "00000000  1000        0 501 1 0000000000000000 100 0 0 10 0\n"
          "   1: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 "
          "00000000  1000        0 502 1 0000000000000000 100 0 0 10 0\n"
          "   2: 0100007F:1F41 0100007F:0050 01 00000000:00000000 00:00000000 "
          "00000000  1000        0 503 1 0000000000000000 100 0 0 10 0\n";
    listeners_t listeners = {.count = 0};
    char path[128];

    snprintf (path, sizeof (path), "%s/net", proc);
    mkdir (path, 0700);
    snprintf (path, sizeof (path), "%s/net/tcp", proc);
    FILE *file = fopen (path, "w");
    assert_non_null (file);
    fputs (lines, file);
    fclose (file);
    put (30, "cgroup", "0::/system.slice/slurmstepd.scope/job_77/step_0\n");
    put_stat (30, 1);
    snprintf (path, sizeof (path), "%s/30/fd", proc);
    mkdir (path, 0700);
    snprintf (path, sizeof (path), "%s/30/fd/5", proc);
    assert_int_equal (symlink ("socket:[502]", path), 0);
    listeners_look (&listeners, proc, ports, 2);
    assert_int_equal (listeners.count, 1);
    assert_int_equal (listeners.item[0].inode, 502);
    assert_int_equal (listeners.item[0].pid, 30);
    assert_int_equal (listeners.item[0].job, 77);
    assert_int_equal (listeners.item[0].birth, 4242);
}

static int make_proc (void **state)
{
    (void)state;
    return mkdtemp (proc) ? 0 : -1;
}

static int drop_proc (void **state)
{
    char command[128];

    (void)state;
    snprintf (command, sizeof (command), "rm -rf %s", proc);
    return system (command);
}

/* --- what they counted ------------------------------------------------------------------ */

#define HOUR INT64_C (3600000)
#define NOW (500000 * HOUR)

struct seen {
    size_t count;
    record_t record[16];
};

static void keep (void *arg, const record_t *record)
{
    struct seen *seen = arg;

    seen->record[seen->count++] = *record;
}

static bool open_jobs (void *arg, int64_t job)
{
    return job != *(const int64_t *)arg;
}

/* One look: the value that the server of job 7 shows; below 0: it does not answer. */
static void look (produced_t *p, int64_t pid, int64_t value, int64_t born,
                  int64_t now, int64_t over)
{
    listeners_t listeners
        = {.item = {{.port = 8000, .pid = pid, .birth = 1, .job = 7}},
           .count = pid ? 1 : 0};

    produced_begin (p, now);
    if (value >= 0)
        produced_add (p, &listeners.item[0], "tokens", value, born, now);
    produced_end (p, &listeners, open_jobs, &over, now);
}

#define PRODUCED(seen)                               \
    {                                                \
        .cut_ms = HOUR, .emit = keep, .arg = &(seen) \
    }

TEST_CASE (produced__increase__by_job_and_interval)
{
    struct seen seen = {0};
    produced_t p = PRODUCED (seen);

    look (&p, 0, -1, 0, NOW, 0);
    look (&p, 5, 100, NOW + 1000, NOW + 10000, 0); /* begun since: from zero */
    look (&p, 5, 400, NOW + 1000, NOW + 20000, 0);
    look (&p, 5, -1, NOW + 1000, NOW + 30000, 0); /* no answer */
    look (&p, 5, 1000, NOW + 1000, NOW + 40000, 0);
    assert_int_equal (seen.count, 0);
    look (&p, 5, 1100, NOW + 1000, NOW + HOUR + 5000, 0);
    assert_int_equal (seen.count, 1);
    assert_int_equal (seen.record[0].kind, RECORD_JOB_UNITS);
    assert_int_equal (seen.record[0].job_id, 7);
    assert_string_equal (seen.record[0].unit, "tokens");
    assert_int_equal (seen.record[0].quantity, 1100);
    assert_int_equal (seen.record[0].begin_ms, NOW);
    assert_int_equal (seen.record[0].end_ms, NOW + HOUR);
    look (&p, 5, 1150, NOW + 1000, NOW + HOUR + 15000, 0);
    look (&p, 0, -1, 0, NOW + HOUR + 25000, 7); /* the job is over */
    assert_int_equal (seen.count, 2);
    assert_int_equal (seen.record[1].quantity, 50);
    assert_int_equal (seen.record[1].end_ms, NOW + HOUR + 25000);
    assert_int_equal (p.counter_count, 0);
    produced_done (&p);
}

TEST_CASE (produced__counter_that_falls__began_anew)
{
    struct seen seen = {0};
    produced_t p = PRODUCED (seen);

    look (&p, 5, 100, NOW, NOW, 0);
    look (&p, 5, 900, NOW, NOW + 10000, 0);
    look (&p, 5, 30, NOW, NOW + 20000, 0);         /* within one process */
    look (&p, 6, 40, NOW + 21000, NOW + 30000, 0); /* another process */
    look (&p, 6, 45, NOW + 21000, NOW + 40000, 0);
    produced_stop (&p, NOW + 50000);
    assert_int_equal (seen.count, 1);
    assert_int_equal (seen.record[0].quantity, 900 + 30 + 45);
    assert_int_equal (seen.record[0].counter_resets, 1);
    produced_done (&p);
}

/* What is older than the first look may be in records already. */
TEST_CASE (produced__older_than_the_first_look__from_its_value)
{
    struct seen seen = {0};
    produced_t p = PRODUCED (seen);

    look (&p, 5, 5000, NOW - HOUR, NOW, 0);
    look (&p, 5, 5010, NOW - HOUR, NOW + 10000, 0);
    produced_stop (&p, NOW + 20000);
    assert_int_equal (seen.record[0].quantity, 10);
    produced_done (&p);
}

/* The agent was killed: the same record, or none, twice. */
TEST_CASE (produced__state__goes_on)
{
    struct seen seen = {0}, again = {0};
    produced_t p = PRODUCED (seen), q = PRODUCED (again);
    buffer_t text = BUFFER_INIT;
    char *line, *rest;

    look (&p, 5, 100, NOW, NOW, 0);
    look (&p, 5, 300, NOW, NOW + 10000, 0);
    produced_print (&p, &text);
    rest = strdup (buffer_text (&text));
    for (line = strtok (rest, "\n"); line; line = strtok (NULL, "\n"))
        assert_int_equal (produced_parse (&q, line), 1);
    assert_int_equal (produced_parse (&q, "gpu 1"), 0);
    assert_int_equal (produced_parse (&q, "counter 1 2"), -1);
    assert_int_equal (produced_parse (&q, "produced zz"), -1);
    look (&p, 5, 350, NOW, NOW + 20000, 0);
    look (&q, 5, 350, NOW, NOW + 20000, 0);
    produced_stop (&p, NOW + 30000);
    produced_stop (&q, NOW + 30000);
    assert_int_equal (seen.record[0].quantity, 350);
    assert_int_equal (again.record[0].quantity, 350);
    assert_memory_equal (seen.record[0].key, again.record[0].key,
                         RECORD_KEY_SIZE);
    free (rest);
    buffer_done (&text);
    produced_done (&p);
    produced_done (&q);
}

TEST_MAIN (make_proc, drop_proc)
