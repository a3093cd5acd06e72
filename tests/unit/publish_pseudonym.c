/* Pseudonyms: HMAC-SHA-256 of RFC 4231, collisions, and keys that are refused.
 * tests/publish/pseudonym.sh compares with openssl's own command. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "publish/pseudonym.h"
#include "support/test.h"

static pseudonyms_t *with_key (const char *byte, size_t length)
{
    unsigned char key[PSEUDONYM_KEY_MAX];
    pseudonyms_t *p;
    gl_error_t error;

    memset (key, *byte, length);
    p = pseudonyms_new (key, length, &error);
    assert_non_null (p);
    return p;
}

static void is (pseudonyms_t *p, const char *name, const char *wanted)
{
    gl_error_t error = {""};
    const char *text = pseudonyms_of (p, name, &error);

    assert_string_equal (error.text, "");
    assert_string_equal (text, wanted);
}

/* b0344c61d8db38..., 82558a389a443c..., 60e431591ee0b6...: their first 50 bits. */
TEST_CASE (pseudonym__rfc_4231__first_50_bits_in_base32)
{
    static const unsigned char counted[]
        = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13,
           14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25};
    char data[51];
    pseudonyms_t *p = with_key ("\x0b", 20);

    is (p, "Hi There", "user-wa2eyyoy3m"); /* test case 1 */
    pseudonyms_free (p);
    p = pseudonyms_new (counted, sizeof (counted), NULL); /* test case 4 */
    memset (data, 0xcd, 50);
    data[50] = '\0';
    is (p, data, "user-qjkyuoe2iq");
    pseudonyms_free (p);
    p = with_key ("\xaa", 131); /* test case 6: longer than a block */
    is (p, "Test Using Larger Than Block-Size Key - Hash Key First",
        "user-mdsdcwi64c");
    pseudonyms_free (p);
}

TEST_CASE (pseudonym__asked_again__same)
{
    pseudonyms_t *p = with_key ("k", 16), *other = with_key ("l", 16);
    char first[32], name[16];

    strcpy (first, pseudonyms_of (p, "ann", NULL));
    for (int i = 0; i < 10000; i++) {
        snprintf (name, sizeof (name), "user%d", i);
        assert_non_null (pseudonyms_of (p, name, NULL));
    }
    is (p, "ann", first);
    assert_string_not_equal (pseudonyms_of (other, "ann", NULL), first);
    assert_string_not_equal (pseudonyms_of (p, "Ann", NULL), first);
    assert_non_null (pseudonyms_of (p, "", NULL));
    pseudonyms_free (p);
    pseudonyms_free (other);
}

/* Two names whose HMACs begin with the same 50 bits under the key of RFC 4231's test
 * case 1, found by search. */
TEST_CASE (pseudonym__two_names_with_one__refused)
{
    pseudonyms_t *p = with_key ("\x0b", 20);
    gl_error_t error;

    is (p, "u10680943", "user-j2bucb2ivy");
    assert_null (pseudonyms_of (p, "u13355213", &error));
    assert_string_equal (error.text,
                         "users 'u10680943' and 'u13355213' have the same "
                         "pseudonym user-j2bucb2ivy under this key: make "
                         "another key");
    is (p, "u10680943", "user-j2bucb2ivy");
    pseudonyms_free (p);
}

/* --- key files ------------------------------------------------------------ */

static char path[] = "/tmp/pseudonym-XXXXXX";

static void refused (const char *file, const char *why)
{
    gl_error_t error = {""};

    assert_null (pseudonyms_read (file, &error));
    if (!strstr (error.text, why))
        fail_msg ("'%s' does not say '%s'", error.text, why);
    assert_non_null (strstr (error.text, file));
}

static void make_file (size_t length, mode_t mode)
{
    FILE *file = fopen (path, "w");

    assert_non_null (file);
    for (size_t i = 0; i < length; i++)
        assert_int_not_equal (fputc (0x0b, file), EOF);
    assert_int_equal (fclose (file), 0);
    assert_int_equal (chmod (path, mode), 0);
}

TEST_CASE (key__good_file__read_as_it_is)
{
    gl_error_t error;
    pseudonyms_t *p;

    make_file (20, 0640);
    p = pseudonyms_read (path, &error);
    assert_non_null (p);
    is (p, "Hi There", "user-wa2eyyoy3m");
    pseudonyms_free (p);
    make_file (PSEUDONYM_KEY_MAX, 0600);
    p = pseudonyms_read (path, &error);
    assert_non_null (p);
    pseudonyms_free (p);
}

TEST_CASE (key__wrong_file__refused)
{
    make_file (15, 0600);
    refused (path, "16 to 4096 bytes, and this one 15");
    make_file (0, 0600);
    refused (path, "and this one 0");
    make_file (PSEUDONYM_KEY_MAX + 100, 0600);
    refused (path, "and this one at least 4097");
    make_file (20, 0644);
    refused (path, "its mode is 0644");
    make_file (20, 0602);
    refused (path, "run 'chmod o= ");
    refused ("/tmp", "regular file");
    refused ("/nonexistent/key", "No such file or directory");
    assert_int_equal (unlink (path), 0);
    assert_int_equal (mkfifo (path, 0600), 0);
    refused (path, "regular file");
}

static int setup (void **state)
{
    int fd = mkstemp (path);

    (void)state;
    return fd < 0 ? -1 : close (fd);
}

static int teardown (void **state)
{
    (void)state;
    return unlink (path);
}

TEST_MAIN (setup, teardown)
