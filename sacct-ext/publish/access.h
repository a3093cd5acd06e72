/*
 * access.h: who may read which part of a site, for the web server that serves it.
 *
 * The site has DIR/team/DIRECTORY for each team. Its readers may read that directory
 * alone; the site's groups may read everything, with the teams' directories; nobody
 * else anything. Rules name what a server matches: the path of a request, decoded
 * once. A directory called a%2Fb is matched as it is called, and a request for it is
 * /team/a%252Fb/.
 *
 * Names are hostile: what cannot be written so that the server reads it back as one
 * group is refused, never changed or left out. Pure.
 */
#ifndef GL_PUBLISH_ACCESS_H
#define GL_PUBLISH_ACCESS_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"

typedef struct {
    const char *directory; /* as statement_file_name() makes it; once */
    text_list_t readers;   /* groups; none: the site's alone */
} access_team_t;

typedef struct {
    const access_team_t *team;
    size_t team_count;
    text_list_t readers; /* the site's groups; none: nobody sees all of it */
} access_rules_t;

/* For nginx, included in the server block of the site, at its root. Each request is
 * allowed by a subrequest to $gpuledger_auth?allowed_groups=GROUP,GROUP, as oauth2-proxy
 * understands it; the server block sets that variable to the authenticator's URL, for
 * example http://127.0.0.1:4180/oauth2/auth. Locations for signing in need
 * `auth_request off`. -1: a group has a comma, which separates groups there. */
int access_nginx (const access_rules_t *rules, buffer_t *out,
                  gl_error_t *error);

/* For Apache httpd, included at the end of the virtual host of the site, which is at its
 * root and whose <Location "/"> configures authentication. `require` is the line that
 * allows a group, with %s in the place of its name (NULL: ACCESS_REQUIRE, for
 * mod_auth_openidc). A name with blanks needs quotes around %s, unless the provider
 * takes the rest of the line (ldap-group). -1: `require` is no such line, or a group
 * does not fit into it. */
#define ACCESS_REQUIRE "Require claim \"groups:%s\""
int access_apache (const access_rules_t *rules, const char *require,
                   buffer_t *out, gl_error_t *error);

#endif /* !GL_PUBLISH_ACCESS_H */
