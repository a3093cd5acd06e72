#include "setup/configuration.h"

#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "config/config.h"
#include "setup/proposal.h"
#include "site/site.h"

/* There is none, or it is the one that the package brings, in which all is a comment. */
static bool is_unwritten (const setup_t *setup)
{
    GL_AUTOFREE char *text = change_read (setup->cli->config, NULL);
    BUFFER_AUTO fresh = BUFFER_INIT;

    config_print_default (&fresh, false);
    return access (setup->cli->config, F_OK) < 0
           || (text && !strcmp (text, buffer_text (&fresh)));
}

/* What can be said before its content is looked at; SETUP_DONE: nothing. */
static setup_state_t look_file (setup_t *setup, buffer_t *finding)
{
    if (is_unwritten (setup))
        return buffer_say (finding, SETUP_TO_DO, "%s is not written yet",
                           setup->cli->config);
    if (!setup->site)
        return buffer_say (finding, SETUP_WAITING, "%s", setup->site_problem);
    return SETUP_DONE;
}

setup_state_t configuration_look_host (setup_t *setup, buffer_t *finding)
{
    setup_state_t state = look_file (setup, finding);
    BUFFER_AUTO missing = BUFFER_INIT;
    BUFFER_AUTO lacks = BUFFER_INIT;

    if (state != SETUP_DONE)
        return state;
    if (!setup->options.answers.cluster)
        return buffer_say (finding, SETUP_WAITING,
                           "the name of the cluster is unknown");
    proposal_missing (setup, &missing, &lacks);
    return missing.length
               ? buffer_say (finding, SETUP_TO_DO, "%s lacks %s",
                             setup->cli->config, buffer_text (&lacks))
               : buffer_say (finding, SETUP_DONE, "%s", setup->cli->config);
}

setup_state_t configuration_look_client (setup_t *setup, buffer_t *finding)
{
    setup_state_t state = look_file (setup, finding);

    if (state != SETUP_DONE)
        return state;
    return setup->site->collector.hosts.count
               ? SETUP_DONE
               : buffer_say (finding, SETUP_TO_DO,
                             "%s names no collector.hosts", setup->cli->config);
}

/* What somebody has edited is not changed: they get the lines to add. */
static setup_result_t show_missing (setup_t *setup, buffer_t *finding)
{
    BUFFER_AUTO missing = BUFFER_INIT;
    BUFFER_AUTO lacks = BUFFER_INIT;

    proposal_missing (setup, &missing, &lacks);
    buffer_printf (finding,
                   "the file was edited, so setup does not change it; add to "
                   "its sections:%s",
                   buffer_text (&missing));
    return SETUP_YOURS;
}

/* A cost book has salaries; what nodes and users need is no secret. */
static change_file_t file_of (const setup_t *setup, bool host)
{
    return (change_file_t){.path = setup->cli->config,
                           .mode = host ? 0640 : 0644,
                           .group = host ? "gpuledger" : NULL};
}

static setup_result_t write_file (setup_t *setup, bool host, const char *text,
                                  gl_error_t *error)
{
    change_file_t file = file_of (setup, host);

    if (change_write (&setup->changes, &file, text, error) < 0)
        return SETUP_FAILED;
    setup_load_site (setup);
    return setup->site ? SETUP_MADE
                       : gl_error (error, "%s", setup->site_problem);
}

setup_result_t configuration_make_host (setup_t *setup, buffer_t *finding,
                                        gl_error_t *error)
{
    BUFFER_AUTO text = BUFFER_INIT;

    if (!is_unwritten (setup))
        return show_missing (setup, finding);
    proposal_host (setup, &text);
    buffer_printf (finding, "cluster %s, %zu pool%s",
                   setup->options.answers.cluster, setup->found.count,
                   setup->found.count == 1 ? "" : "s");
    return write_file (setup, true, buffer_text (&text), error);
}

setup_result_t configuration_make_client (setup_t *setup, buffer_t *finding,
                                          gl_error_t *error)
{
    BUFFER_AUTO text = BUFFER_INIT;

    proposal_client (setup, &text);
    if (is_unwritten (setup))
        return write_file (setup, false, buffer_text (&text), error);
    buffer_printf (finding,
                   "the file was edited, so setup does not change it; add:\n%s",
                   buffer_text (&text));
    return SETUP_YOURS;
}

setup_result_t configuration_undo (setup_t *setup, buffer_t *finding,
                                   gl_error_t *error)
{
    change_file_t file = {.path = setup->cli->config, .shared = true};
    BUFFER_AUTO fresh = BUFFER_INIT;
    bool left;

    config_print_default (&fresh, false);
    if (change_restore (&setup->changes, &file, buffer_text (&fresh), &left,
                        error)
        < 0)
        return SETUP_FAILED;
    if (left)
        buffer_printf (finding, "%s stays, because it was edited",
                       setup->cli->config);
    return SETUP_MADE;
}
