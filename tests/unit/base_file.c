#include "support/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

/* A directory with a file "page" of the content "former", made anew for each
 * test. */
static char dir[64];
static int at = -1;

static void put (const char *name, const char *content)
{
    int fd = openat (at, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true (fd >= 0);
    assert_int_equal (file_write_all (fd, content, strlen (content)), 0);
    close (fd);
}

static int setup (void **state)
{
    (void)state;
    snprintf (dir, sizeof (dir), "/tmp/gpuledger-file.XXXXXX");
    assert_non_null (mkdtemp (dir));
    at = open (dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true (at >= 0);
    put ("page", "former");
    return 0;
}

/* What stands in the directory, in the order of names: "a b". */
static const char *names (void)
{
    static char text[1024];
    struct dirent **list;
    int count = scandir (dir, &list, NULL, alphasort);

    assert_true (count >= 0);
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        if (list[i]->d_name[0] != '.') {
            assert_true (strlen (text) + 258 < sizeof (text));
            if (*text)
                strcat (text, " ");
            strcat (text, list[i]->d_name);
        }
        free (list[i]);
    }
    free (list);
    return text;
}

static int teardown (void **state)
{
    struct dirent **list;
    int count = scandir (dir, &list, NULL, alphasort);

    (void)state;
    for (int i = 0; i < count; i++) {
        unlinkat (at, list[i]->d_name, 0);
        unlinkat (at, list[i]->d_name, AT_REMOVEDIR);
        free (list[i]);
    }
    free (list);
    close (at);
    return rmdir (dir);
}

static void assert_content (const char *name, const char *content)
{
    gl_error_t error = {""};
    size_t size;
    char *text = file_read (at, name, name, 1000, &size, &error);

    if (!text)
        fail_msg ("%s", error.text);
    assert_string_equal (text, content);
    free (text);
}

/* The ways that the program replaces files in. */
static file_target_t ways[] = {
    {.name = "page", .mode = 0600, .sync = FILE_DURABLE},
    {.name = "page", .mode = 0600, .sync = FILE_WHOLE},
    {.name = "page", .mode = 0644, .sync = FILE_LOOSE},
    {.name = "page", .mode = 0, .sync = FILE_WHOLE, .shared = true},
};
#define WAYS (sizeof (ways) / sizeof (ways[0]))

static int replace (size_t way, const char *content, gl_error_t *error)
{
    ways[way].at = at;
    return file_replace (&ways[way], "DIR/page", content, strlen (content),
                         error);
}

TEST_CASE (replace__a_file__whole_and_alone)
{
    for (size_t i = 0; i < WAYS; i++) {
        int reader;
        char seen[16] = "";

        (void)state;
        put ("page", "former");
        reader = openat (at, "page", O_RDONLY | O_CLOEXEC);
        assert_int_equal (replace (i, "new", NULL), 0);
        assert_content ("page", "new");
        assert_string_equal (names (), "page");
        /* who had opened it reads on in the former one */
        assert_int_equal (read (reader, seen, sizeof (seen)), 6);
        assert_string_equal (seen, "former");
        close (reader);
    }
    unlinkat (at, "page", 0);
    for (size_t i = 0; i < WAYS; i++)
        assert_int_equal (replace (i, "new", NULL), 0);
    assert_content ("page", "new");
}

TEST_CASE (replace__mode__as_told_whatever_the_umask)
{
    static const struct {
        mode_t mode, umask, got;
    } cases[] = {{0600, 0777, 0600}, {0644, 077, 0644}, {0644, 0, 0644},
                 {0, 022, 0644},     {0, 077, 0600},    {0, 02, 0664}};
    mode_t before = umask (022);

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        file_target_t file = {.at = at, .name = "page", .mode = cases[i].mode};
        struct stat st;

        umask (cases[i].umask);
        assert_int_equal (file_replace (&file, "page", "new", 3, NULL), 0);
        assert_int_equal (fstatat (at, "page", &st, 0), 0);
        assert_int_equal (st.st_mode & 07777, cases[i].got);
    }
    umask (before);
}

/* In a child, which may lose rights: 0 when replacing fails with the words. */
static int fails (int (*lose) (void), size_t way, const char *words)
{
    static char content[100000];
    pid_t pid = fork ();
    int status;

    memset (content, 'x', sizeof (content) - 1);
    if (pid == 0) {
        gl_error_t error = {""};

        if (lose () < 0)
            _exit (2);
        if (replace (way, content, &error) == 0)
            _exit (3);
        _exit (strcmp (error.text, words) == 0 ? 0 : 4);
    }
    assert_true (pid > 0);
    assert_int_equal (waitpid (pid, &status, 0), pid);
    return WIFEXITED (status) ? WEXITSTATUS (status) : -1;
}

/* A disk with room for a part of it. */
static int fill_disk (void)
{
    struct rlimit room = {50000, 50000};

    return signal (SIGXFSZ, SIG_IGN) == SIG_ERR
               ? -1
               : setrlimit (RLIMIT_FSIZE, &room);
}

TEST_CASE (replace__disk_full__former_stands)
{
    for (size_t i = 0; i < WAYS; i++) {
        assert_int_equal (fails (fill_disk, i, "DIR/page: File too large"), 0);
        assert_content ("page", "former");
        assert_string_equal (names (), "page");
    }
}

static int be_nobody (void)
{
    return geteuid () == 0
                   && (setgroups (0, NULL) < 0 || setgid (65534) < 0
                       || setuid (65534) < 0)
               ? -1
               : 0;
}

TEST_CASE (replace__no_permission__former_stands)
{
    assert_int_equal (chmod (dir, 0555), 0);
    for (size_t i = 0; i < WAYS; i++) {
        assert_int_equal (
            fails (be_nobody, i, "DIR/page: Permission denied"), 0);
        assert_content ("page", "former");
        assert_string_equal (names (), "page");
    }
    assert_int_equal (chmod (dir, 0700), 0);
}

TEST_CASE (replace__no_directory__says_so)
{
    file_target_t file = {.at = AT_FDCWD, .name = "/nonexistent/page"};
    gl_error_t error = {""};

    for (int shared = 0; shared < 2; shared++) {
        file.shared = shared;
        assert_int_equal (file_replace (&file, file.name, "", 0, &error), -1);
        assert_string_equal (error.text,
                             "/nonexistent/page: No such file or directory");
    }
}

/* It cannot be renamed. */
TEST_CASE (replace__name_of_a_directory__nothing_is_left)
{
    gl_error_t error = {""};

    unlinkat (at, "page", 0);
    assert_int_equal (mkdirat (at, "page", 0700), 0);
    for (size_t i = 0; i < WAYS; i++) {
        assert_int_equal (replace (i, "new", &error), -1);
        assert_string_equal (error.text, "DIR/page: Is a directory");
        assert_string_equal (names (), "page");
    }
}

TEST_CASE (replace__link__is_replaced_and_not_followed)
{
    struct stat st;

    for (size_t i = 0; i < WAYS; i++) {
        put ("precious", "kept");
        unlinkat (at, "page", 0);
        assert_int_equal (symlinkat ("precious", at, "page"), 0);
        assert_int_equal (replace (i, "new", NULL), 0);
        assert_int_equal (fstatat (at, "page", &st, AT_SYMLINK_NOFOLLOW), 0);
        assert_true (S_ISREG (st.st_mode));
        assert_content ("page", "new");
        assert_content ("precious", "kept");
    }
}

/* By whoever may write in the directory. */
TEST_CASE (replace__name_beside_is_taken__what_it_was_is_left_alone)
{
    put ("precious", "kept");
    for (size_t i = 0; i < WAYS; i++) {
        assert_int_equal (symlinkat ("precious", at, "page.new"), 0);
        assert_int_equal (replace (i, "new", NULL), 0);
        unlinkat (at, "page.new", 0);
        assert_int_equal (linkat (at, "precious", at, "page.new", 0), 0);
        assert_int_equal (replace (i, "newer", NULL), 0);
        unlinkat (at, "page.new", 0);
        assert_int_equal (mkfifoat (at, "page.new", 0600), 0);
        alarm (10);
        assert_int_equal (replace (i, "newest", NULL), 0);
        alarm (0);
        unlinkat (at, "page.new", 0);
        assert_content ("page", "newest");
        assert_content ("precious", "kept");
    }
}

TEST_CASE (draft__given_up__former_stands)
{
    for (size_t i = 0; i < WAYS; i++) {
        file_draft_t *draft;

        ways[i].at = at;
        draft = file_draft_open (&ways[i]);
        assert_non_null (draft);
        assert_int_equal (file_draft_write (draft, "half", 4), 0);
        assert_int_equal (file_draft_close (draft, false), 0);
        assert_content ("page", "former");
        assert_string_equal (names (), "page");
    }
}

TEST_CASE (draft__two_at_a_time__each_is_whole)
{
    file_target_t file = {.at = at, .name = "page", .shared = true};
    file_draft_t *one = file_draft_open (&file);
    file_draft_t *two = file_draft_open (&file);

    assert_true (one && two);
    assert_int_equal (file_draft_write (one, "on", 2), 0);
    assert_int_equal (file_draft_write (two, "two", 3), 0);
    assert_int_equal (file_draft_write (one, "e", 1), 0);
    assert_int_equal (file_draft_close (two, true), 0);
    assert_content ("page", "two");
    assert_int_equal (file_draft_close (one, true), 0);
    assert_content ("page", "one");
    assert_string_equal (names (), "page");
}

/* What a killed writer left is taken away; of several it may be in use. */
TEST_CASE (draft__left_behind__replaced_by_the_next)
{
    put ("page.new", "left behind by one that was killed");
    assert_int_equal (replace (0, "new", NULL), 0);
    assert_content ("page", "new");
    assert_string_equal (names (), "page");
    put ("page.000000", "of another");
    assert_int_equal (replace (3, "newer", NULL), 0);
    assert_string_equal (names (), "page page.000000");
}

TEST_CASE (read__what_is_no_small_file__is_refused)
{
    gl_error_t error = {""};
    size_t size = 7;
    char *text;

    text = file_read (at, "page", "DIR/page", 6, &size, &error);
    assert_non_null (text);
    assert_int_equal (size, 6);
    free (text);
    assert_null (file_read (at, "page", "DIR/page", 5, &size, &error));
    assert_int_equal (errno, EIO);
    assert_string_equal (error.text, "DIR/page: more than 5 bytes");
    assert_null (file_read (at, "none", "DIR/none", 5, &size, &error));
    assert_int_equal (errno, ENOENT);
    assert_int_equal (symlinkat ("page", at, "link"), 0);
    assert_null (file_read (at, "link", "DIR/link", 5, &size, &error));
    assert_string_equal (error.text,
                         "DIR/link: Too many levels of symbolic links");
    assert_int_equal (mkfifoat (at, "fifo", 0600), 0);
    assert_null (file_read (at, "fifo", "DIR/fifo", 5, &size, &error));
    assert_string_equal (error.text, "DIR/fifo: not a regular file");
}

TEST_MAIN_EACH (setup, teardown)
