#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "command/user_verb.h"
#include "site/site.h"
#include "store/store.h"
#include "users/ask.h"

bool user_verb_here (const cli_t *cli)
{
    GL_AUTOFREE char *file = store_file (STORE_DEFAULT_URL);

    return cli->store_url
           || (geteuid () == 0
               && ((cli->site && cli->site->store)
                   || (file && access (file, F_OK) == 0)));
}

const char *user_verb_person (cli_t *cli, const char *name, uid_t *ret_uid)
{
    static char person[129];
    const struct passwd *entry = name ? getpwnam (name) : getpwuid (getuid ());

    if (!entry || strlen (entry->pw_name) >= sizeof (person)) {
        if (name)
            cli_failf (cli, "there is no user '%s' on this host", name);
        else
            cli_failf (cli, "user %u has no name on this host",
                       (unsigned)getuid ());
        return NULL;
    }
    strcpy (person, entry->pw_name);
    *ret_uid = entry->pw_uid;
    return person;
}

int user_verb_not_for (cli_t *cli, const char *person)
{
    if (!person)
        return CLI_OK;
    return cli_failf (cli,
                      "--for needs direct access to the store: a collector "
                      "identifies you by munge; give --store");
}

int user_verb_ask (cli_t *cli, verb_code_t verb, user_words_t *words,
                   const output_t *output)
{
    BUFFER_AUTO out = BUFFER_INIT;
    gl_error_t error;

    for (size_t i = 0; i < cli->given_count; i++)
        if (user_words_add (words, verb, cli->given[i].name,
                            cli->given[i].value, &error)
            < 0)
            return cli_usage (cli, "%s", error.text);
    if (!cli_site (cli))
        return CLI_FAILED;
    if (!ask_possible (cli->site))
        return cli_failf (cli,
                          "there is no store here, and %s names no collector: "
                          "set collector.hosts, or give --store",
                          cli->config);
    if (ask_collector (cli->site, verb, (const char *const *)words->text,
                       words->count, &out, &error)
        < 0)
        return cli_fail (cli, &error);
    return output_bytes (cli, output, out.data, out.length);
}
