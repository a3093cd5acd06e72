#include "support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "devices/replay.h"

#define SECOND INT64_C (1000000000)
/* 2026-10-01T00:00:00Z */
#define OCTOBER (INT64_C (1790812800) * SECOND)

static source_t *play (const char *text, int64_t start)
{
    gl_error_t error = {""};
    replay_t *replay = replay_parse (text, strlen (text), "test", &error);

    if (!replay)
        fail_msg ("%s", error.text);
    return source_open_replay_parsed (replay, start, NULL);
}

static void scan (source_t *source, int64_t now, inventory_t *inventory)
{
    assert_int_equal (source->ops->scan (source, now, inventory, NULL), 0);
}

static int look (source_t *source, int64_t now, const inventory_t *inventory,
                 sample_t *samples)
{
    return source->ops->look (source, now, inventory, samples, NULL);
}

static void expect_error (const char *text, const char *expected)
{
    gl_error_t error = {""};
    replay_t *replay = replay_parse (text, strlen (text), "f", &error);

    if (replay)
        fail_msg ("taken: %s", text);
    assert_string_equal (error.text, expected);
}

static const char full_and_cut[]
    = "replay 1\n"
      "driver 570.86.15\n"
      "boot 11111111-2222-3333-4444-555555555555\n"
      "gpu a uuid=GPU-aaaa model=\"NVIDIA H100 80GB HBM3\" minor=0 "
      "memory=81559 pci=00000000:18:00.0 power_limit=700000\n"
      "gpu b minor=1 # cut into two\n"
      "slice b1 uuid=MIG-b1 gi=3 ci=0 profile=1g.10gb compute=1 "
      "memory_slices=1 placement=0:1 memory=9984 gi_minor=30 ci_minor=31\n"
      "slice b2 gi=1 ci=0 file=/tmp/mig2\n"
      "at +0s\n"
      "a utilization=12.5 memory=1000 power=100000 clock=1980 "
      "throttle=0x4 processes=1\n"
      "b power=300000\n"
      "b1 utilization=100\n"
      "at +10s\n"
      "a power=200000 utilization=unsupported\n"
      "at +20s\n"
      "a lost\n"
      "b lost\n"
      "at +30s\n"
      "a back reset\n";

TEST_CASE (scan__first_layout__has_what_the_file_says)
{
    source_t *source = play (full_and_cut, 0);
    inventory_t inventory = {0};
    const device_t *d;

    scan (source, 0, &inventory);
    assert_string_equal (inventory.device[0].source, "replay");
    assert_string_equal (inventory.device[0].driver, "570.86.15");
    assert_string_equal (inventory.boot_id,
                         "11111111-2222-3333-4444-555555555555");
    assert_int_equal (inventory.count, 4);
    d = inventory.device;
    assert_string_equal (d[0].uuid, "GPU-aaaa");
    assert_string_equal (d[0].model, "NVIDIA H100 80GB HBM3");
    assert_string_equal (d[0].file, "/dev/nvidia0");
    assert_int_equal (d[0].partitioned, 0);
    assert_string_equal (d[1].uuid, "GPU-b");
    assert_int_equal (d[1].partitioned, 1);
    assert_true (d[1].gpu == 1 && d[2].gpu == 1 && d[3].gpu == 1);
    assert_true (d[2].slice && d[3].slice && !d[1].slice);
    assert_string_equal (d[2].old_uuid, "MIG-GPU-b/3/0");
    assert_string_equal (d[2].profile, "1g.10gb");
    assert_string_equal (d[2].file, "/dev/nvidia-caps/nvidia-cap31");
    assert_string_equal (d[3].file, "/tmp/mig2");
    assert_int_equal (d[2].placement_size, 1);
    assert_true (d[3].placement_size == DEVICE_UNKNOWN);
    inventory_clear (&inventory);
    source_close (source);
}

TEST_CASE (look__values_and_counter__follow_the_file)
{
    source_t *source = play (full_and_cut, 7 * SECOND);
    inventory_t inventory = {0};
    sample_t s[4];

    scan (source, 7 * SECOND, &inventory);
    assert_int_equal (look (source, 12 * SECOND, &inventory, s), 0);
    assert_true (s[0].present);
    assert_int_equal (s[0].utilization, 1250);
    assert_int_equal (s[0].energy, 500000); /* 100 W for 5 s */
    assert_int_equal (s[0].throttle, 4);
    assert_true (s[1].memory_used == DEVICE_UNKNOWN);
    assert_int_equal (s[2].utilization, 10000);
    assert_true (s[2].energy == DEVICE_UNKNOWN);
    /* 100 W for 10 s, then 200 W for 5 s and a millionth */
    look (source, 22 * SECOND + 1000, &inventory, s);
    assert_int_equal (s[0].energy, 2000000);
    assert_true (s[0].utilization == DEVICE_UNKNOWN);
    look (source, 28 * SECOND, &inventory, s);
    assert_false (s[0].present);
    assert_false (s[2].present); /* its GPU is lost */
    assert_true (s[0].energy == DEVICE_UNKNOWN);
    look (source, 38 * SECOND, &inventory, s);
    assert_true (s[0].present);
    assert_int_equal (s[0].energy, 200000);
    assert_false (s[1].present);
    inventory_clear (&inventory);
    source_close (source);
}

TEST_CASE (look__another_layout__asks_for_a_scan)
{
    source_t *source = play ("replay 1\n"
                             "gpu a minor=0\n"
                             "slice s1 gi=1 ci=0\n"
                             "at 2026-10-01T00:00:00Z\n"
                             "a energy=5000 power=1000\n"
                             "s1 processes=1\n"
                             "at 2026-10-01T00:01:00.500Z\n"
                             "layout\n"
                             "gpu a minor=0\n"
                             "at 2026-10-01T00:02:00Z\n"
                             "reboot bbbb\n",
                             123);
    inventory_t inventory = {0};
    sample_t s[2];
    int64_t first, last;

    assert_int_equal (source_replay_span (source, &first, &last), 0);
    assert_true (first == OCTOBER && last == OCTOBER + 120 * SECOND);
    scan (source, OCTOBER, &inventory);
    assert_int_equal (inventory.count, 2);
    assert_int_equal (look (source, OCTOBER + 60 * SECOND, &inventory, s), 0);
    assert_int_equal (s[0].energy, 65000);
    assert_int_equal (look (source, OCTOBER + 61 * SECOND, &inventory, s), 1);
    assert_true (s[0].present);
    assert_false (s[1].present);
    scan (source, OCTOBER + 61 * SECOND, &inventory);
    assert_int_equal (inventory.count, 1);
    assert_int_equal (inventory.device[0].partitioned, 0);
    /* the counter went on */
    assert_int_equal (look (source, OCTOBER + 100 * SECOND, &inventory, s), 0);
    assert_int_equal (s[0].energy, 105000);
    assert_int_equal (look (source, OCTOBER + 121 * SECOND, &inventory, s), 1);
    assert_int_equal (s[0].energy, 1000);
    scan (source, OCTOBER + 121 * SECOND, &inventory);
    assert_string_equal (inventory.boot_id, "bbbb");
    inventory_clear (&inventory);
    source_close (source);
}

TEST_CASE (look__repeat__begins_again_but_for_the_counters)
{
    source_t *source = play ("replay 1\nrepeat 1m\ngpu a\n"
                             "at +0s\na power=1000 processes=1\n"
                             "at +30s\na power=3000\n",
                             0);
    inventory_t inventory = {0};
    sample_t s;
    int64_t first, last;

    assert_int_equal (source_replay_span (source, &first, &last), -1);
    scan (source, 0, &inventory);
    look (source, 60 * SECOND, &inventory, &s);
    assert_int_equal (s.energy, 120000);
    assert_int_equal (s.power, 1000);
    look (source, 600 * SECOND, &inventory, &s);
    assert_int_equal (s.energy, 1200000);
    /* a clock that is set back changes nothing */
    look (source, 20 * SECOND, &inventory, &s);
    assert_int_equal (s.energy, 1200000);
    inventory_clear (&inventory);
    source_close (source);
}

TEST_CASE (look__given_none_and_absurd_counters__pass_as_they_are)
{
    source_t *source
        = play ("replay 1\ngpu a counter=given\ngpu b counter=none\ngpu c\n"
                "at +0s\na power=1000\nb power=1000 energy=7\n"
                "c power=9223372036854775807 energy=9223372036854775794\n"
                "at +10s\na energy=18446744073709551615\n",
                0);
    inventory_t inventory = {0};
    sample_t s[3];

    scan (source, 0, &inventory);
    look (source, 0, &inventory, s);
    assert_true (s[0].energy == DEVICE_UNKNOWN);
    assert_true (s[1].energy == DEVICE_UNKNOWN);
    assert_true (s[2].energy == INT64_C (9223372036854775794));
    look (source, INT64_MAX, &inventory, s);
    assert_true (s[0].energy == INT64_MAX);
    assert_true (s[1].energy == DEVICE_UNKNOWN);
    assert_true (s[2].energy == INT64_MAX);
    look (source, INT64_MIN, &inventory, s);
    inventory_clear (&inventory);
    source_close (source);
}

TEST_CASE (parse__mistakes__are_named_with_their_line)
{
#define HEAD "replay 1\ngpu a minor=0\nslice s\nat +10s\n"
    expect_error ("", "f:0: a replay file begins with 'replay 1'");
    expect_error ("\n\ngpu a\n", "f:3: a replay file begins with 'replay 1'");
    expect_error ("replay 2\n", "f:1: this build reads 'replay 1' only");
    expect_error ("replay 1\nslice s\n", "f:2: a slice follows its GPU");
    expect_error ("replay 1\ngpu a\ngpu a\n",
                  "f:3: two devices are called 'a'");
    expect_error ("replay 1\ngpu a tail=1\n", "f:2: a GPU has no key 'tail'");
    expect_error ("replay 1\ngpu a gi=1\n", "f:2: a GPU has no key 'gi'");
    expect_error ("replay 1\ngpu a minor=-1\n", "f:2: not a number: '-1'");
    expect_error ("replay 1\ngpu a model=\"x\n",
                  "f:2: a quotation mark is not closed");
    expect_error ("replay 1\ngpu a\na power=1\n",
                  "f:3: an 'at' line comes before states");
    expect_error (HEAD "s power=1\n", "f:5: only a GPU has '1'");
    expect_error (HEAD "x power=1\n",
                  "f:5: neither a word of this format nor a device: 'x'");
    expect_error (HEAD "a utilization=1.234\n",
                  "f:5: not a percentage with at most two decimals: '1.234'");
    expect_error (HEAD "at +9s\n", "f:5: the time is before the previous one");
    expect_error (HEAD "at 2026-10-01T00:00:00Z\n",
                  "f:5: times with and without a date in one file");
    expect_error ("replay 1\nat 2026-02-29T00:00:00Z\n",
                  "f:2: not a time such as 2026-10-01T00:00:00Z or +90s: "
                  "'2026-02-29T00:00:00Z'");
    expect_error ("replay 1\nrepeat 10s\nat +10s\n",
                  "f:3: later than 'repeat'");
    expect_error (HEAD "layout\ngpu b\nat +20s\na power=1\n",
                  "f:8: this layout has no device 'a'");
    expect_error (HEAD "gpu b\n", "f:5: devices come at the head of the file "
                                  "or after a 'layout' line");
    expect_error (HEAD "a lost now\n", "f:5: what is 'now'");
    expect_error ("replay 1\ngpu \xc3\xa9\n",
                  "f:2: a device needs a name of letters, digits, '.', '_' "
                  "and '-'");
    expect_error ("replay 1\ngpu a\x01\n", "f:2: a control character");
#undef HEAD
}

/* The text between the first two fences of a document, or a whole file. */
static char *read_text (const char *path, bool fenced)
{
    const char *top = getenv ("abs_top_srcdir");
    GL_AUTOFREE char *whole = xasprintf ("%s/%s", top ? top : ".", path);
    FILE *file = fopen (whole, "r");
    char *text = xcalloc (1, 1 << 16), *begin, *end;

    assert_non_null (file);
    assert_true (fread (text, 1, (1 << 16) - 1, file) > 0);
    fclose (file);
    if (fenced) {
        begin = strstr (text, "```\n");
        assert_non_null (begin);
        end = strstr (begin + 4, "```\n");
        assert_non_null (end);
        *end = '\0';
        memmove (text, begin + 4, strlen (begin + 4) + 1);
    }
    return text;
}

TEST_CASE (parse__example_of_the_manual__plays)
{
    GL_AUTOFREE char *text = read_text ("docs/formats/replay.md", true);
    source_t *source = play (text, 0);
    inventory_t inventory = {0};
    sample_t s[4];

    scan (source, OCTOBER, &inventory);
    assert_int_equal (inventory.count, 4);
    assert_string_equal (inventory.device[2].old_uuid, "MIG-GPU-0b22/9/0");
    look (source, OCTOBER + 1260 * SECOND, &inventory, s);
    assert_false (s[0].present);
    assert_int_equal (look (source, OCTOBER + 1800 * SECOND, &inventory, s), 1);
    scan (source, OCTOBER + 1800 * SECOND, &inventory);
    assert_int_equal (inventory.count, 2);
    inventory_clear (&inventory);
    source_close (source);
}

TEST_CASE (play__demo__goes_on_for_a_day)
{
    GL_AUTOFREE char *text = read_text ("tests/data/replay/demo.replay", false);
    source_t *source = play (text, 0);
    inventory_t inventory = {0};
    sample_t first[5], s[5];

    scan (source, 0, &inventory);
    assert_int_equal (inventory.count, 5);
    look (source, 1200 * SECOND, &inventory, first);
    for (int64_t now = 0; now <= 86400 * SECOND; now += 600 * SECOND)
        assert_int_equal (look (source, now, &inventory, s), 0);
    /* 72 times the same energy */
    assert_true (s[0].energy == 72 * first[0].energy);
    inventory_clear (&inventory);
    source_close (source);
}

static void assert_same (const sample_t *a, const sample_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_true (
            a[i].present == b[i].present && a[i].utilization == b[i].utilization
            && a[i].memory_used == b[i].memory_used && a[i].power == b[i].power
            && a[i].energy == b[i].energy && a[i].clock == b[i].clock
            && a[i].throttle == b[i].throttle
            && a[i].processes == b[i].processes);
}

/* A repetition of which nobody looked at the middle adds the same. */
TEST_CASE (look__after_many_repetitions__is_as_if_seen_in_each)
{
    static const char text[]
        = "replay 1\nrepeat 7s\ngpu a\ngpu b\ngpu c counter=given\n"
          "at +0s\na power=1001 processes=1\nb power=70\n"
          "at +2s\nb reset\na power=3\n"
          "at +3s\na power=unsupported\nc energy=9\n"
          "at +5s\nlayout\ngpu a\nat +6s\na power=5\n";
    source_t *often = play (text, 0), *once = play (text, 0);
    inventory_t inventory = {0}, copy = {0};
    sample_t a[3], b[3];
    const int64_t end = 100003 * SECOND;

    for (int64_t now = 0; now < end; now += SECOND)
        if (look (often, now, &inventory, a))
            scan (often, now, &inventory);
    scan (often, end, &inventory);
    scan (once, end, &copy);
    assert_true (inventory_equal (&inventory, &copy));
    look (often, end, &inventory, a);
    look (once, end, &copy, b);
    assert_int_equal (copy.count, 3);
    assert_same (a, b, 3);
    /* years are no matter */
    look (once, INT64_MAX, &copy, b);
    inventory_clear (&inventory);
    inventory_clear (&copy);
    source_close (often);
    source_close (once);
}

/* Numbers of a fixed sequence. */
static uint32_t next_random (uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void play_some (replay_t *replay)
{
    source_t *source = source_open_replay_parsed (replay, 0, NULL);
    inventory_t inventory = {0};
    sample_t *samples = xcalloc (DEVICES_MAX, sizeof (*samples));

    for (int64_t now = 0; now < 100 * SECOND; now += 9 * SECOND)
        if (now == 0 || look (source, now, &inventory, samples))
            scan (source, now, &inventory);
    inventory_clear (&inventory);
    free (samples);
    source_close (source);
}

static bool parses_or_names_a_line (const char *text, size_t length)
{
    gl_error_t error = {""};
    replay_t *replay = replay_parse (text, length, "f", &error);
    unsigned line = 0;
    char end;

    if (replay) {
        play_some (replay);
        return true;
    }
    if (sscanf (error.text, "f:%u%c", &line, &end) != 2 || end != ':')
        fail_msg ("no line in '%s'", error.text);
    return false;
}

/* Any text either parses or errs with a line: words of the format, in any
 * order, with single bytes changed. */
TEST_CASE (parse__any_text__parses_or_names_a_line)
{
    static const char *const words[] = {"\n",
                                        "\n",
                                        "\n",
                                        " ",
                                        " ",
                                        " ",
                                        "gpu",
                                        "slice",
                                        "at",
                                        "layout",
                                        "repeat",
                                        "reboot",
                                        "a",
                                        "b",
                                        "power=5",
                                        "energy",
                                        "=",
                                        "+1s",
                                        "+2s",
                                        "lost",
                                        "back",
                                        "reset",
                                        "memory=9",
                                        "\"",
                                        "#",
                                        "minor=0",
                                        "gi=1 ci=2",
                                        "a power=1\n",
                                        "at +3s\n",
                                        "driver",
                                        "1d",
                                        "throttle=0xff",
                                        "layout\ngpu a\n",
                                        "\r"};
    uint32_t seed = 42;
    unsigned taken = 0;

    for (int round = 0; round < 4000; round++) {
        BUFFER_AUTO text = BUFFER_INIT;
        unsigned count = next_random (&seed) % 40;

        buffer_add_text (&text, round % 8 ? "replay 1\ngpu a\n" : "");
        for (unsigned i = 0; i < count; i++)
            buffer_add_text (
                &text, words[next_random (&seed) % GL_ARRAY_SIZE (words)]);
        taken += parses_or_names_a_line (buffer_text (&text), text.length);
    }
    assert_true (taken > 100);
    for (int round = 0; round < 4000; round++) {
        char text[sizeof (full_and_cut)];

        memcpy (text, full_and_cut, sizeof (text));
        for (int i = 0; i < 1 + round % 3; i++)
            text[next_random (&seed) % (sizeof (text) - 1)]
                = (char)next_random (&seed);
        parses_or_names_a_line (text, next_random (&seed) % sizeof (text));
    }
}

/* What is written plays the same. */
TEST_CASE (write__played_again__shows_the_same)
{
    source_t *source = play (full_and_cut, OCTOBER), *again;
    inventory_t inventory = {0}, copy = {0};
    char path[] = "/tmp/gl-replay-XXXXXX";
    replay_writer_t *writer;
    gl_error_t error = {""};
    sample_t a[4], b[4];
    int64_t first, last;

    close (mkstemp (path));
    assert_null (replay_writer_open (path, &error));
    unlink (path);
    writer = replay_writer_open (path, &error);
    assert_non_null (writer);
    scan (source, OCTOBER, &inventory);
    for (int i = 0; i < 40; i++) {
        look (source, OCTOBER + i * SECOND, &inventory, a);
        assert_int_equal (replay_writer_look (writer, OCTOBER + i * SECOND,
                                              &inventory, a, &error),
                          0);
    }
    assert_int_equal (replay_writer_close (writer, &error), 0);
    source_close (source);

    source = play (full_and_cut, OCTOBER);
    scan (source, OCTOBER, &inventory);
    again = source_open_replay (path, 0, &error);
    if (!again)
        fail_msg ("%s", error.text);
    assert_int_equal (source_replay_span (again, &first, &last), 0);
    assert_true (first == OCTOBER && last == OCTOBER + 39 * SECOND);
    scan (again, OCTOBER, &copy);
    assert_true (inventory_equal (&inventory, &copy));
    for (int i = 0; i < 40; i++) {
        look (source, OCTOBER + i * SECOND, &inventory, a);
        assert_int_equal (look (again, OCTOBER + i * SECOND, &copy, b), 0);
        assert_same (a, b, 4);
    }
    inventory_clear (&inventory);
    inventory_clear (&copy);
    source_close (source);
    source_close (again);
    unlink (path);
}

TEST_MAIN (NULL, NULL)
