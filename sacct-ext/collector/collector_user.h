/*
 * collector_user.h: how the collector answers users and the price questions of
 * nodes: entries of its table of verbs (collector_verbs.h).
 *
 * tag, mine and price are answered by a child process of the installed command
 * with arguments from a table (user_words.h): what a long report, a scan of all
 * jobs or another writer of the store costs, it costs the child.
 */
#ifndef GL_COLLECTOR_USER_H
#define GL_COLLECTOR_USER_H

#include "collector/collector_verbs.h"

reply_status_t collector_user_tag (const verb_request_t *request,
                                   verb_answer_t *answer);
reply_status_t collector_user_mine (const verb_request_t *request,
                                    verb_answer_t *answer);
reply_status_t collector_user_price (const verb_request_t *request,
                                     verb_answer_t *answer);
/* VERB_PRICES: texts are cluster, node, types: answers with the price file.
 * Prices are no secret: anybody who may speak to the collector may ask. */
reply_status_t collector_user_prices (const verb_request_t *request,
                                      verb_answer_t *answer);

#endif /* !GL_COLLECTOR_USER_H */
