/*
 * request.h: what a submission asks for, as far as a client can see it.
 *
 * SPANK does not show a plugin the request. The plugin reads what Slurm reads:
 * the words of its own command line, the defaults in the environment
 * (SBATCH_GRES, ...) and the #SBATCH lines of a script that is a file. It
 * cannot see a script that comes from standard input or a pipe, whether the
 * partition's nodes have GPUs (--exclusive), and defaults that a site sets
 * elsewhere. There it sees no request, and contrib/job_submit.lua decides.
 *
 * Nothing is kept between calls; what is read is bounded; a file that cannot be
 * read has no directives.
 */
#ifndef GL_PLUGIN_REQUEST_H
#define GL_PLUGIN_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

/* Component `component` (from 0) of this client's job asks for GPUs, shards or
 * MPS. */
bool request_asks_for_gpus (size_t component);

/* `srun --jobid=7` runs a step in a job that is there. Any word of the command
 * line counts: one of the program's own only spares a question. True also where
 * the command line cannot be read. */
bool request_names_a_job (void);

#endif /* !GL_PLUGIN_REQUEST_H */
