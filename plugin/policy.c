#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/tag.h"

#include "policy.h"

#define BLANK " \t\r"
#define ACCOUNT "account:"
#define MORE ", ..."

struct question {
    const char *user;
    const char *project;
    policy_answer_t *answer;
};

/* The next word of *cursor, cut out in place; NULL at the end. */
static char *next_word (char **cursor)
{
    char *word = *cursor + strspn (*cursor, BLANK);
    char *end = word + strcspn (word, BLANK);

    if (*word == '\0')
        return NULL;
    *cursor = end + (*end != '\0');
    *end = '\0';
    return word;
}

static bool open_to (const char *user, char *words)
{
    char *word;
    bool anyone = true;

    while ((word = next_word (&words))) {
        anyone = false;
        if (strcmp (word, user) == 0
            || strncmp (word, ACCOUNT, strlen (ACCOUNT)) == 0)
            return true;
    }
    return anyone;
}

static void list (policy_answer_t *answer, const char *name)
{
    size_t used = strlen (answer->yours), length = strlen (name);

    if (used >= strlen (MORE)
        && strcmp (answer->yours + used - strlen (MORE), MORE) == 0)
        return;
    if (used + 2 + length + strlen (MORE) >= sizeof (answer->yours)) {
        strcat (answer->yours, MORE);
        return;
    }
    if (used > 0)
        strcat (answer->yours, ", ");
    strcat (answer->yours, name);
}

static int read_line (char *line, const struct question *question,
                      gl_error_t *error)
{
    char *cursor = line, *name;

    line[strcspn (line, "#\n")] = '\0';
    if (!(name = next_word (&cursor)))
        return 0;
    if (!tag_valid (name, strlen (name)))
        return gl_error (error, "the first word is no project name (1-64 of "
                                "A-Z a-z 0-9 . _ -)");
    if (!open_to (question->user, cursor))
        return 0;
    list (question->answer, name);
    if (question->project && strcmp (name, question->project) == 0)
        question->answer->known = true;
    return 0;
}

static int read_lines (FILE *stream, const char *file,
                       const struct question *question, gl_error_t *error)
{
    char line[POLICY_LINE_MAX];
    int number = 0;

    while (fgets (line, sizeof (line), stream)) {
        number++;
        if (!strchr (line, '\n') && !feof (stream))
            return gl_error (error, "%s:%d: longer than %d bytes", file, number,
                             POLICY_LINE_MAX - 2);
        if (read_line (line, question, error) < 0)
            return gl_error_prefix (error, "%s:%d", file, number);
    }
    if (ferror (stream))
        return gl_error (error, "%s: %s", file, strerror (errno));
    return 0;
}

static FILE *open_list (const char *file, gl_error_t *error)
{
    int fd = open (file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *stream = NULL;
    struct stat st;

    if (fd < 0 || fstat (fd, &st) < 0)
        gl_error (error, "%s: %s", file, strerror (errno));
    else if (!S_ISREG (st.st_mode))
        gl_error (error, "%s: not a regular file", file);
    else if (st.st_size > POLICY_FILE_MAX)
        gl_error (error, "%s: larger than %d bytes", file, POLICY_FILE_MAX);
    else if (!(stream = fdopen (fd, "r")))
        gl_error (error, "%s: %s", file, strerror (errno));
    if (!stream && fd >= 0)
        close (fd);
    return stream;
}

int policy_ask (const char *file, const char *user, const char *project,
                policy_answer_t *ret_answer, gl_error_t *error)
{
    policy_answer_t answer = {.known = false};
    struct question question = {user, project, &answer};
    FILE *stream = open_list (file, error);
    int rc;

    if (!stream)
        return -1;
    rc = read_lines (stream, file, &question, error);
    fclose (stream);
    if (rc == 0)
        *ret_answer = answer;
    return rc;
}
