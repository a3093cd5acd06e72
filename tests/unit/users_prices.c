/* The node's price file: what is taken, what is refused, what is answered. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/prices.h"

#define HEAD "gpuledger-prices 1\nnode g1\ncurrency EUR\nuntil 2000\n"
#define NOW 1999

static char spool[64];

static int set_up (void **state)
{
    (void)state;
    strcpy (spool, "/tmp/gpuledger-prices.XXXXXX");
    return mkdtemp (spool) ? 0 : -1;
}

static int tear_down (void **state)
{
    char command[96];

    (void)state;
    snprintf (command, sizeof (command), "rm -rf '%s'", spool);
    return system (command);
}

static int store (const char *text)
{
    return prices_store (spool, "g1", text, strlen (text), NULL);
}

/* "7.20", "-" (not known) or "!" (damaged). */
static const char *cost (const char *gpus, const char *qos, int64_t now)
{
    static char text[PRICES_TEXT_SIZE];
    prices_answer_t answer;
    int rc = prices_of_devices (spool, gpus, qos, now, &answer, NULL);

    if (rc == 1)
        prices_text (answer.per_hour, text);
    return rc == 1 ? text : rc == 0 ? "-" : "!";
}

TEST_CASE (store__not_a_price_file__is_refused_and_the_old_one_stays)
{
    static const char *const bad[] = {
        "",
        "gpuledger-prices 1\n",
        "gpuledger-prices 2\nnode g1\ncurrency EUR\nuntil 2000\nend\n",
        HEAD "price 1 h100\n",
        HEAD "price 1 h100\nend",
        HEAD "price 1 h100\nend\nprice 2 h100\n",
        HEAD "price -1 h100\nend\n",
        HEAD "price 1.5 h100\nend\n",
        HEAD "price 99999999999999 h100\nend\n",
        HEAD "price 1\nend\n",
        HEAD "price 1 \nend\n",
        HEAD "price 1 h\x1b[m\nend\n",
        HEAD "rate 1 h100\nend\n",
        HEAD "\nend\n",
        "gpuledger-prices 1\nnode g1\ncurrency EURO\nuntil 2000\nend\n",
        "gpuledger-prices 1\nnode g1\ncurrency EUR\nend\n",
        "gpuledger-prices 1\ncurrency EUR\nuntil 2000\nend\n",
        "gpuledger-prices 1\nnode g2\ncurrency EUR\nuntil 2000\nend\n",
    };

    assert_int_equal (store (HEAD "price 10000 h100\nend\n"), 0);
    for (size_t i = 0; i < sizeof (bad) / sizeof (bad[0]); i++) {
        if (store (bad[i]) != -1)
            fail_msg ("taken: %s", bad[i]);
    }
    assert_string_equal (cost ("0", NULL, NOW), "1.00");
}

TEST_CASE (devices__without_a_table__have_a_price_if_one_type_is_priced)
{
    assert_string_equal (cost ("0", NULL, NOW), "-");
    assert_int_equal (store (HEAD "price 36000 h100\nend\n"), 0);
    assert_string_equal (cost ("0,1,2,3", NULL, NOW), "14.40");
    assert_string_equal (cost ("0-3", NULL, NOW), "14.40");
    assert_string_equal (cost ("0-3", NULL, 2000), "-");
    assert_int_equal (store (HEAD "price 1 h100\nprice 1 a100\nend\n"), 0);
    assert_string_equal (cost ("0", NULL, NOW), "-");
    assert_int_equal (store (HEAD "end\n"), 0);
    assert_string_equal (cost ("0", NULL, NOW), "-");
}

TEST_CASE (devices__with_a_table__are_priced_by_type)
{
    static const prices_device_t devices[]
        = {{0, "h100"}, {1, "1g.10gb"}, {2, ""}, {3, "v100"}};

    assert_int_equal (prices_store_devices (spool, devices, 4, NULL), 0);
    assert_int_equal (store (HEAD "price 36000 h100\nprice 5143 1g.10gb\n"
                                  "price 20000 gpu\nend\n"),
                      0);
    assert_string_equal (cost ("0", NULL, NOW), "3.60");
    assert_string_equal (cost ("1", NULL, NOW), "0.5143");
    assert_string_equal (cost ("2", NULL, NOW), "2.00");
    assert_string_equal (cost ("2,0,1", NULL, NOW), "6.1143");
    assert_string_equal (cost ("0,3", NULL, NOW), "-"); /* no price */
    assert_string_equal (cost ("0,9", NULL, NOW), "-"); /* no type */
}

TEST_CASE (devices__by_qos__have_the_price_of_theirs)
{
    assert_int_equal (store (HEAD "price 36000 h100\n"
                                  "price 12000 h100 scavenger\n"
                                  "price 90000 h100 two words\nend\n"),
                      0);
    assert_string_equal (cost ("0", "scavenger", NOW), "1.20");
    assert_string_equal (cost ("0", "two words", NOW), "9.00");
    assert_string_equal (cost ("0", "normal", NOW), "3.60");
    assert_string_equal (cost ("0", NULL, NOW), "-");
    assert_string_equal (cost ("0", "", NOW), "-");
}

TEST_CASE (devices__a_list_that_is_none__has_no_price)
{
    static const char *const lists[]
        = {"",   ",",           "GPU-1", "0,0", "0-3,2", "3-0",   "-1",
           "0-", "0-999999999", "0x1",   " 0",  "0 ",    "1-2-3", "0,,1"};

    assert_int_equal (store (HEAD "price 36000 h100\nend\n"), 0);
    for (size_t i = 0; i < sizeof (lists) / sizeof (lists[0]); i++) {
        if (strcmp (cost (lists[i], NULL, NOW), "-") != 0)
            fail_msg ("priced: '%s'", lists[i]);
    }
}

TEST_CASE (table__twice_or_no_word__is_refused)
{
    static const prices_device_t twice[] = {{0, "h100"}, {0, "a100"}};
    static const prices_device_t blank[] = {{0, "h 100"}};
    static const prices_device_t negative[] = {{-1, "h100"}};

    assert_int_equal (prices_store_devices (spool, twice, 2, NULL), -1);
    assert_int_equal (prices_store_devices (spool, blank, 1, NULL), -1);
    assert_int_equal (prices_store_devices (spool, negative, 1, NULL), -1);
    assert_int_equal (prices_store_devices (spool, NULL, 0, NULL), 0);
}

TEST_CASE (table__that_cannot_be_written__names_the_file)
{
    gl_error_t error = {""};
    char path[96];

    assert_int_equal (prices_store_devices (spool, NULL, 0, NULL), 0);
    snprintf (path, sizeof (path), "%s/state/devices.new", spool);
    assert_int_equal (mkdir (path, 0700), 0);
    assert_int_equal (prices_store_devices (spool, NULL, 0, &error), -1);
    assert_int_equal (rmdir (path), 0);
    snprintf (path, sizeof (path), "%s/state/devices: ", spool);
    assert_int_equal (strncmp (error.text, path, strlen (path)), 0);
}

TEST_CASE (table__damaged__is_told)
{
    char name[96];
    FILE *stream;

    assert_int_equal (store (HEAD "price 36000 h100\nend\n"), 0);
    assert_int_equal (prices_store_devices (spool, NULL, 0, NULL), 0);
    snprintf (name, sizeof (name), "%s/state/devices", spool);
    stream = fopen (name, "w");
    fputs ("gpuledger-devices 1\n0 h100\n", stream);
    fclose (stream);
    assert_string_equal (cost ("0", NULL, NOW), "!");
}

TEST_CASE (text__any_amount__has_two_to_four_decimals)
{
    static const struct {
        int64_t amount;
        const char *text;
    } cases[] = {{0, "0.00"},
                 {1, "0.0001"},
                 {100, "0.01"},
                 {10000, "1.00"},
                 {15000, "1.50"},
                 {15500, "1.55"},
                 {15550, "1.555"},
                 {144000, "14.40"},
                 {INT64_MAX, "922337203685477.5807"}};
    char text[PRICES_TEXT_SIZE];

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        prices_text (cases[i].amount, text);
        assert_string_equal (text, cases[i].text);
    }
}

/* Bytes changed, cut out and put in at random, seeded: read under the
 * sanitizers of the build, taken or not. */
TEST_CASE (files__damaged_anywhere__give_an_answer_or_none)
{
    static const char whole[]
        = HEAD "price 36000 h100\nprice 12000 h100 scavenger\n"
               "price 5143 1g.10gb\nend\n";
    static const prices_device_t devices[] = {{0, "h100"}, {1, "1g.10gb"}};
    char prices[96], table[96], text[sizeof (whole) + 8];
    int answered = 0;

    srand (1);
    snprintf (prices, sizeof (prices), "%s/prices", spool);
    snprintf (table, sizeof (table), "%s/state/devices", spool);
    assert_int_equal (prices_store_devices (spool, devices, 2, NULL), 0);
    for (int round = 0; round < 4000; round++) {
        size_t length = sizeof (whole) - 1;
        FILE *stream = fopen (round % 4 ? prices : table, "w");
        memcpy (text, whole, length);
        for (int i = rand () % 4; i >= 0; i--)
            text[(size_t)rand () % length] = (char)rand ();
        fwrite (text, 1, (size_t)rand () % 8 ? length : length / 2, stream);
        fclose (stream);
        answered += cost ("0,1", "scavenger", NOW)[0] != '!';
        prices_store (spool, "g1", text, length, NULL);
        if (round % 4 == 0)
            assert_int_equal (prices_store_devices (spool, devices, 2, NULL),
                              0);
    }
    assert_true (answered > 0);
}

TEST_MAIN_EACH (set_up, tear_down)
