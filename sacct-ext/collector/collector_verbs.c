#include "collector/collector_verbs.h"

#include "collector/collector_user.h"

const collector_verb_t collector_verbs[] = {
    {VERB_PRICES, "prices", TEXTS_MAX, collector_user_prices},
    {VERB_TAG, "tag", TEXTS_MAX, collector_user_tag},
    {VERB_MINE, "mine", TEXTS_MAX, collector_user_mine},
    {VERB_PRICE, "price", TEXTS_MAX, collector_user_price},
    {0, NULL, 0, NULL},
};
