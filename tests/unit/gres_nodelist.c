#include "support/test.h"

#include <stdio.h>
#include <unistd.h>

#include "base/buffer.h"
#include "gres/nodelist.h"

/* Lists that scontrol expands too. */
static const char *const lists[] = {
    "g1",
    "g[001-003,012],login1",
    "r[1-2]n[01-10]",
    "a[1-2][1-2]",
    "n[8-11]",
    "n[08-11]",
    "n[099-101]",
    "n[9-010]",
    "n[01,1,001]",
    "n1,n1",
    "c1-[9-10]",
    "cpn-f13-03-[01-02],cpn-f13-04-[01-02]",
    "x[0-1]y[0-1]z[00-11]",
    "node-a.example,n[5]",
};

static void expand (nodelist_t *list, buffer_t *to)
{
    const char *name;

    while ((name = nodelist_next (list))) {
        buffer_add_text (to, name);
        buffer_add_char (to, '\n');
    }
}

static nodelist_t *open_list (const char *text)
{
    gl_error_t error = {""};
    nodelist_t *list = nodelist_open (text, &error);

    assert_string_equal (error.text, "");
    assert_non_null (list);
    return list;
}

static void read_command (const char *command, buffer_t *to)
{
    FILE *f = popen (command, "r");
    size_t n;

    assert_non_null (f);
    do {
        n = fread (buffer_reserve (to, 4096), 1, 4096, f);
        to->length += n;
        to->data[to->length] = '\0';
    } while (n > 0);
    assert_int_equal (pclose (f), 0);
}

/* scontrol reads a configuration file first, though it needs no daemon. */
static void nodelist__every_list__as_scontrol_expands_it (void **state)
{
    char path[] = "/tmp/gl_nodelist.XXXXXX";
    static const char conf[] = "ClusterName=c\nSlurmctldHost=localhost\n";
    int fd;

    (void)state;
    fd = mkstemp (path);
    assert_true (fd >= 0);
    assert_int_equal (write (fd, conf, strlen (conf)), strlen (conf));
    close (fd);
    for (size_t i = 0; i < sizeof (lists) / sizeof (lists[0]); i++) {
        char command[512];
        BUFFER_AUTO ours = BUFFER_INIT;
        BUFFER_AUTO theirs = BUFFER_INIT;
        nodelist_t *list = open_list (lists[i]);

        snprintf (command, sizeof (command),
                  "SLURM_CONF=%s scontrol show hostnames '%s'", path, lists[i]);
        read_command (command, &theirs);
        expand (list, &ours);
        assert_string_equal (buffer_text (&ours), buffer_text (&theirs));
        nodelist_close (list);
    }
    unlink (path);
}

static void nodelist__every_list__contains_what_it_expands_to (void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof (lists) / sizeof (lists[0]); i++) {
        nodelist_t *list = open_list (lists[i]);
        const char *name;
        uint64_t count = 0;

        while ((name = nodelist_next (list))) {
            assert_true (nodelist_contains (list, name));
            count++;
        }
        assert_true (count == nodelist_count (list));
        nodelist_rewind (list);
        assert_non_null (nodelist_next (list));
        nodelist_close (list);
    }
}

static void nodelist_contains__table_of_names__in_or_out (void **state)
{
    static const struct {
        const char *list, *name;
        bool in;
    } cases[] = {
        {"g[001-008]", "g004", true},
        {"g[001-008]", "g4", false},
        {"g[001-008]", "g0004", false},
        {"g[001-008]", "g009", false},
        {"g[001-008]", "g00", false},
        {"g[001-008]", "g001x", false},
        {"n[8-11]", "n08", false},
        {"n[8-11]", "n11", true},
        {"n[098-101]", "n101", true},
        {"n[98-101]", "n0101", false},
        {"a[1-2][1-12]", "a112", true},
        {"a[1-2][1-12]", "a113", false},
        {"r[1-2]n[01-10]x", "r2n10x", true},
        {"a,b", "b", true},
        {"a,b", "", false},
        {"", "a", false},
        {"None assigned", "None", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        nodelist_t *list = open_list (cases[i].list);
        assert_int_equal (nodelist_contains (list, cases[i].name), cases[i].in);
        nodelist_close (list);
    }
}

static void nodelist__hostile_text__refused_at_once (void **state)
{
    static const char *const cases[] = {
        "n[2-1]",
        "n[]",
        "n[1-2,]",
        "n[1-3",
        "n]",
        "a,,b",
        "a,",
        ",a",
        "n[a-b]",
        "n[1--2]",
        "n 1",
        "n\n1",
        "n\x1b[0m",
        "n\xff",
        "n[0-999999999]",
        "n[0-999][0-999][0-999]",
        "a[0-999999],b[0-9]",
        "n[0-18446744073709551616]",
        "n[1][1][1][1][1][1][1][1][1]",
    };
    char longest[NODELIST_NAME_MAX + 2];

    (void)state;
    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        gl_error_t error = {""};
        assert_null (nodelist_open (cases[i], &error));
        assert_non_null (strstr (error.text, "node list"));
    }
    memset (longest, 'x', sizeof (longest));
    longest[NODELIST_NAME_MAX + 1] = '\0';
    assert_null (nodelist_open (longest, NULL));
    longest[NODELIST_NAME_MAX] = '\0';
    nodelist_close (open_list (longest));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (nodelist__every_list__contains_what_it_expands_to),
        cmocka_unit_test (nodelist_contains__table_of_names__in_or_out),
        cmocka_unit_test (nodelist__hostile_text__refused_at_once),
        /* the last one needs Slurm's command */
        cmocka_unit_test (nodelist__every_list__as_scontrol_expands_it),
    };
    size_t count = sizeof (tests) / sizeof (tests[0]);

    if (system ("command -v scontrol >/dev/null") != 0) {
        puts ("# scontrol is not installed: not compared with it");
        count--;
    }
    return _cmocka_run_group_tests ("nodelist", tests, count, NULL, NULL);
}
