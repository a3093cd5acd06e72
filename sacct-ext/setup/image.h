/*
 * image.h: setup of an image, the file system of nodes that is made on another host.
 *
 * The image is what it is for nodes: its own gpuledger runs in it, because that one knows
 * where the image has Slurm's plugins and which libraries it needs. Units are enabled, not
 * started.
 */
#ifndef GL_SETUP_IMAGE_H
#define GL_SETUP_IMAGE_H

#include "cli/cli.h"

/* `root` of somebody who is in the image already. */
#define IMAGE_INSIDE "/"

/* Becomes `gpuledger setup KIND` of the image at `root`, with the options of this run.
 * Returns only if that fails: an exit code. */
int image_enter (cli_t *cli, const char *kind, const char *root);

#endif /* !GL_SETUP_IMAGE_H */
