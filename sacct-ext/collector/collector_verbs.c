#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "collector/collector_verbs.h"
#include "users/prices.h"
#include "users/user_words.h"

/* The command next to this program: in one directory with it (a build), or in
 * bin next to sbin; else where it was to be installed. */
static char *find_command (void)
{
    static const char *const places[] = {"gpuledger", "../bin/gpuledger"};
    char self[PATH_MAX];
    ssize_t length = readlink ("/proc/self/exe", self, sizeof (self) - 1);
    char *slash;

    self[length > 0 ? length : 0] = '\0';
    slash = strrchr (self, '/');
    for (size_t i = 0; slash && i < GL_ARRAY_SIZE (places); i++) {
        GL_AUTOFREE char *path
            = xasprintf ("%.*s/%s", (int)(slash - self), self, places[i]);
        if (access (path, X_OK) == 0)
            return GL_TAKE (path);
    }
    return xstrdup (BINDIR "/gpuledger");
}

/* The child's arguments in addition to the user's words. */
static size_t add_fixed (const verb_request_t *request, const char *before[])
{
    size_t count = 0;

    if (request->config) {
        before[count++] = "--config";
        before[count++] = request->config;
    }
    if (request->store_url) {
        before[count++] = "--store";
        before[count++] = request->store_url;
    }
    before[count] = NULL;
    return count;
}

/* By a child process of the installed command with arguments from a table
 * (user_words.h): what a long report, a scan of all jobs or another writer of
 * the store costs, it costs the child. */
static reply_status_t run_command (const verb_request_t *request,
                                   verb_answer_t *answer)
{
    GL_AUTOFREE char *command = find_command ();
    const char *before[5];
    gl_error_t error;

    add_fixed (request, before);
    if (user_arguments (request->verb, command, before, request->user,
                        request->texts, request->count, &answer->child, &error)
        == 0)
        return REPLY_OK;
    buffer_add_text (&answer->body, error.text);
    return REPLY_FAILED;
}

/* The texts are cluster, node, types; the answer is the price file. Prices are
 * no secret: anybody who may speak to the collector may ask. */
static reply_status_t make_prices (const verb_request_t *request,
                                   verb_answer_t *answer)
{
    gl_error_t error;

    if (request->count < 2)
        gl_error (&error, "name the cluster and the node");
    else if (prices_make (request->site, request->texts[0], request->texts[1],
                          request->texts + 2, request->count - 2, request->now,
                          &answer->body, &error)
             == 0)
        return REPLY_OK;
    buffer_clear (&answer->body);
    buffer_add_text (&answer->body, error.text);
    return REPLY_FAILED;
}

const collector_verb_t collector_verbs[] = {
    {VERB_PRICES, "prices", TEXTS_MAX, make_prices},
    {VERB_TAG, "tag", TEXTS_MAX, run_command},
    {VERB_MINE, "mine", TEXTS_MAX, run_command},
    {VERB_PRICE, "price", TEXTS_MAX, run_command},
    {VERB_UNITS, "units", TEXTS_MAX, run_command},
    {0, NULL, 0, NULL},
};
