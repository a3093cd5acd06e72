/*
 * gpu_memory.h: the memory of GPU models, in GB as they are sold. Sold GB are taken as 10^9
 * bytes, the smaller reading. Pure: a constant table.
 */
#ifndef GL_GRES_GPU_MEMORY_H
#define GL_GRES_GPU_MEMORY_H

/* "H100-SXM5-80GB" says it; other models are in the table. 0: not known. */
int gpu_memory_gb (const char *model);

#endif /* !GL_GRES_GPU_MEMORY_H */
