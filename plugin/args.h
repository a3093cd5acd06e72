/*
 * args.h: the plugin's arguments, `key=value` words of its line in
 * plugstack.conf:
 *
 *     optional gpuledger.so [spool=DIR] [projects=FILE]
 *                           [policy=off|warn|require] [default=account|none]
 *
 * They are parsed in every hook anew, because init is not called before the
 * job's prolog and epilog. An unknown key or a bad value goes to `report`
 * and otherwise ignored: a typing error never stops a job.
 */
#ifndef GL_PLUGIN_ARGS_H
#define GL_PLUGIN_ARGS_H

typedef enum { POLICY_OFF, POLICY_WARN, POLICY_REQUIRE } args_policy_t;
typedef enum { DEFAULT_NONE, DEFAULT_ACCOUNT } args_default_t;

/* Texts are borrowed from the argument vector. */
typedef struct {
    const char *spool;    /* directory, never NULL */
    const char *projects; /* allow-list, NULL: any well-formed project */
    int policy;           /* args_policy_t, default off */
    int fallback;         /* args_default_t, default none */
} args_t;

typedef void (*args_report_f) (const char *format, ...)
    __attribute__ ((format (printf, 1, 2)));

void args_parse (args_t *args, int ac, char **av, args_report_f report);

#endif /* !GL_PLUGIN_ARGS_H */
