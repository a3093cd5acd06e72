#include <string.h>

#include "usage/key.h"

static const key_info_t keys[KEY_COUNT] = {
    {KEY_CLUSTER, "cluster", "Cluster", "(none)"},
    {KEY_TEAM, "team", "Team", "(none)"},
    {KEY_INSTITUTION, "institution", "Institution", "(none)"},
    {KEY_CLASS, "class", "Class", "(none)"},
    {KEY_COST_CENTER, "cost_center", "Cost center", "(none)"},
    {KEY_ACCOUNT, "account", "Account", "(none)"},
    {KEY_USER, "user", "User", "(none)"},
    {KEY_PROJECT, "project", "Project", "(untagged)"},
    {KEY_LABEL, "label", "Label", "(none)"},
    {KEY_QOS, "qos", "QOS", "(none)"},
    {KEY_PARTITION, "partition", "Partition", "(none)"},
    {KEY_POOL, "pool", "Pool", "(none)"},
    {KEY_GPU, "gpu", "GPU", "(none)"},
    {KEY_GRES_TYPE, "gres_type", "GRES type", "(untyped)"},
    {KEY_PROFILE, "profile", "Slice profile", "(none)"},
    {KEY_NODE, "node", "Node", "(none)"},
    {KEY_STATE, "state", "State", "(none)"},
    {KEY_MONTH, "month", "Month", "(none)"},
    {KEY_DAY, "day", "Day", "(none)"},
    {KEY_HOUR, "hour", "Hour", "(none)"},
};

const key_info_t *key_info (key_id_t id)
{
    return &keys[id];
}

const key_info_t *key_by_word (const char *word, size_t length)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        size_t n = strlen (keys[i].word);
        if (i == KEY_LABEL) {
            if (length > n + 1 && memcmp (word, "label:", n + 1) == 0)
                return &keys[i];
        } else if (length == n && memcmp (word, keys[i].word, n) == 0)
            return &keys[i];
    }
    return NULL;
}

bool key_is_of_team (key_id_t key)
{
    return key == KEY_INSTITUTION || key == KEY_CLASS || key == KEY_COST_CENTER;
}

const char *key_of_team (key_id_t key, const site_team_t *team)
{
    if (!team)
        return NULL;
    return key == KEY_INSTITUTION ? team->institution
           : key == KEY_CLASS     ? team->class
                                  : team->cost_center;
}
