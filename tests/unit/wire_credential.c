/* Credentials by real munged daemons on private sockets: two with one key, one
 * with another. */
#include "support/test.h"

#include <arpa/inet.h>
#include <munge.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "wire/credential.h"

enum { HOST, OTHER, STRANGER, DAEMONS };

static char dir[] = "/tmp/gpuledger-credential.XXXXXX";
static struct {
    pid_t pid;
    char socket[64];
    credential_t *credential;
} daemons[DAEMONS];

static void write_key (const char *path)
{
    unsigned char key[128];
    FILE *file;

    umask (077);
    file = fopen (path, "w");
    assert_non_null (file);
    assert_int_equal (getrandom (key, sizeof (key), 0), sizeof (key));
    fwrite (key, 1, sizeof (key), file);
    fclose (file);
}

static void start (int i, const char *key, const char *origin)
{
    char options[6][128];
    struct stat st;

    snprintf (daemons[i].socket, sizeof (daemons[i].socket), "%s/socket%d", dir,
              i);
    snprintf (options[0], 128, "--socket=%s", daemons[i].socket);
    snprintf (options[1], 128, "--key-file=%s", key);
    snprintf (options[2], 128, "--log-file=%s/log%d", dir, i);
    snprintf (options[3], 128, "--pid-file=%s/pid%d", dir, i);
    snprintf (options[4], 128, "--seed-file=%s/seed%d", dir, i);
    snprintf (options[5], 128, "--origin=%s", origin);
    daemons[i].pid = fork ();
    if (daemons[i].pid == 0) {
        if (!freopen ("/dev/null", "w", stdout)
            || !freopen ("/dev/null", "w", stderr))
            _exit (126);
        execlp ("munged", "munged", "--force", "--foreground", options[0],
                options[1], options[2], options[3], options[4], options[5],
                (char *)NULL);
        _exit (127);
    }
    for (int tries = 0; tries < 200; tries++) {
        const struct timespec t = {0, 50000000};

        if (stat (daemons[i].socket, &st) == 0)
            break;
        nanosleep (&t, NULL);
    }
    daemons[i].credential = credential_new (daemons[i].socket, NULL);
    assert_non_null (daemons[i].credential);
}

static int setup (void **state)
{
    char right[64], wrong[64];

    (void)state;
    assert_non_null (mkdtemp (dir));
    chmod (dir, 0755);
    snprintf (right, sizeof (right), "%s/right", dir);
    snprintf (wrong, sizeof (wrong), "%s/wrong", dir);
    write_key (right);
    write_key (wrong);
    start (HOST, right, "127.0.1.1");
    start (OTHER, right, "127.0.1.2");
    start (STRANGER, wrong, "127.0.1.1");
    return 0;
}

static int teardown (void **state)
{
    char command[128];

    (void)state;
    for (int i = 0; i < DAEMONS; i++) {
        credential_free (daemons[i].credential);
        kill (daemons[i].pid, SIGTERM);
        waitpid (daemons[i].pid, NULL, 0);
    }
    snprintf (command, sizeof (command), "rm -rf %s", dir);
    return system (command);
}

static char *make (int by, const void *payload, size_t length, uid_t reader)
{
    gl_error_t error = {""};
    char *text;

    if (credential_make (daemons[by].credential, payload, length, reader, &text,
                         &error)
        < 0)
        fail_msg ("%s", error.text);
    return text;
}

static credential_status_t open_with (int i, const char *text, opened_t *opened)
{
    gl_error_t error = {""};
    credential_status_t status
        = credential_open (daemons[i].credential, text, opened, &error);

    if (status != CREDENTIAL_OK) {
        assert_null (opened->payload);
        assert_true (error.text[0] != '\0');
    }
    return status;
}

TEST_CASE (credential__opened_elsewhere__says_who_and_where)
{
    char *text = make (OTHER, "a\0b", 3, CREDENTIAL_ANYBODY);
    struct in_addr there;
    opened_t opened;

    inet_pton (AF_INET, "127.0.1.2", &there);
    assert_int_equal (open_with (HOST, text, &opened), CREDENTIAL_OK);
    assert_int_equal (opened.length, 3);
    assert_memory_equal (opened.payload, "a\0b", 3);
    assert_int_equal (opened.uid, getuid ());
    assert_int_equal (opened.gid, getgid ());
    assert_int_equal (opened.origin.s_addr, there.s_addr);
    assert_true (opened.opened >= opened.made);
    assert_true (opened.opened - opened.made < 60);
    free (opened.payload);
    free (text);
}

TEST_CASE (credential__of_nothing__is_empty)
{
    char *text = make (HOST, NULL, 0, CREDENTIAL_ANYBODY);
    opened_t opened;

    assert_int_equal (open_with (HOST, text, &opened), CREDENTIAL_OK);
    assert_null (opened.payload);
    assert_int_equal (opened.length, 0);
    free (text);
}

TEST_CASE (credential__opened_twice__is_replayed)
{
    char *text = make (HOST, "x", 1, CREDENTIAL_ANYBODY);
    opened_t opened;

    assert_int_equal (open_with (HOST, text, &opened), CREDENTIAL_OK);
    free (opened.payload);
    assert_int_equal (open_with (HOST, text, &opened), CREDENTIAL_REPLAYED);
    free (text);
}

TEST_CASE (credential__of_another_key__is_invalid)
{
    char *text = make (STRANGER, "x", 1, CREDENTIAL_ANYBODY);
    opened_t opened;

    assert_int_equal (open_with (HOST, text, &opened), CREDENTIAL_INVALID);
    free (text);
}

TEST_CASE (credential__damaged__is_invalid)
{
    char *text = make (HOST, "x", 1, CREDENTIAL_ANYBODY);
    opened_t opened;

    text[strlen (text) / 2] ^= 1;
    assert_int_equal (open_with (HOST, text, &opened), CREDENTIAL_INVALID);
    assert_int_equal (open_with (HOST, "", &opened), CREDENTIAL_INVALID);
    assert_int_equal (open_with (HOST, "root", &opened), CREDENTIAL_INVALID);
    assert_int_equal (open_with (HOST, "MUNGE::", &opened), CREDENTIAL_INVALID);
    free (text);
}

TEST_CASE (credential__for_another_reader__is_refused)
{
    char *text = make (HOST, "x", 1, getuid () + 54321);
    opened_t opened;

    assert_int_equal (open_with (HOST, text, &opened), CREDENTIAL_REFUSED);
    free (text);
    text = make (HOST, "x", 1, getuid ());
    assert_int_equal (open_with (HOST, text, &opened), CREDENTIAL_OK);
    free (opened.payload);
    free (text);
}

TEST_CASE (credential__in_clear__is_refused)
{
    munge_ctx_t context = munge_ctx_create ();
    opened_t opened;
    char *text;

    munge_ctx_set (context, MUNGE_OPT_SOCKET, daemons[HOST].socket);
    munge_ctx_set (context, MUNGE_OPT_CIPHER_TYPE, MUNGE_CIPHER_NONE);
    assert_int_equal (munge_encode (&text, context, "x", 1), EMUNGE_SUCCESS);
    assert_int_equal (open_with (HOST, text, &opened), CREDENTIAL_REFUSED);
    munge_ctx_destroy (context);
    free (text);
}

TEST_CASE (credential__too_old__is_expired)
{
    const struct timespec t = {2, 100000000};
    munge_ctx_t context = munge_ctx_create ();
    opened_t opened;
    char *text;

    munge_ctx_set (context, MUNGE_OPT_SOCKET, daemons[HOST].socket);
    munge_ctx_set (context, MUNGE_OPT_TTL, 1);
    assert_int_equal (munge_encode (&text, context, "x", 1), EMUNGE_SUCCESS);
    nanosleep (&t, NULL);
    assert_int_equal (open_with (HOST, text, &opened), CREDENTIAL_EXPIRED);
    munge_ctx_destroy (context);
    free (text);
}

TEST_CASE (credential__largest__fits_a_frame)
{
    unsigned char *payload = malloc (CREDENTIAL_PAYLOAD_MAX + 1);
    gl_error_t error = {""};
    opened_t opened;
    char *text;

    for (size_t i = 0; i < CREDENTIAL_PAYLOAD_MAX; i++)
        payload[i] = (unsigned char)(i * 2654435761u >> 13);
    text = make (HOST, payload, CREDENTIAL_PAYLOAD_MAX, CREDENTIAL_ANYBODY);
    assert_in_range (strlen (text), 1, 640 << 10);
    assert_int_equal (open_with (OTHER, text, &opened), CREDENTIAL_OK);
    assert_int_equal (opened.length, CREDENTIAL_PAYLOAD_MAX);
    assert_memory_equal (opened.payload, payload, CREDENTIAL_PAYLOAD_MAX);
    free (opened.payload);
    free (text);
    assert_int_equal (credential_make (daemons[HOST].credential, payload,
                                       CREDENTIAL_PAYLOAD_MAX + 1, 0, &text,
                                       &error),
                      -1);
    free (payload);
}

TEST_CASE (credential__without_munged__is_unreachable)
{
    credential_t *nowhere = credential_new ("/nonexistent/socket", NULL);
    gl_error_t error = {""};
    opened_t opened;
    char *text;

    assert_int_equal (
        credential_make (nowhere, "x", 1, CREDENTIAL_ANYBODY, &text, &error),
        -1);
    assert_null (text);
    text = make (HOST, "x", 1, CREDENTIAL_ANYBODY);
    assert_int_equal (credential_open (nowhere, text, &opened, &error),
                      CREDENTIAL_UNREACHABLE);
    free (text);
    credential_free (nowhere);
}

static bool is_installed (void)
{
    return system ("PATH=$PATH:/usr/sbin command -v munged >/dev/null") == 0;
}

int main (void)
{
    setenv ("PATH", "/usr/sbin:/sbin:/usr/bin:/bin", 1);
    if (!is_installed ()) {
        puts ("1..0 # SKIP because munged is not installed");
        return 0;
    }
    return _cmocka_run_group_tests ("tests", test_list, test_count, setup,
                                    teardown);
}
