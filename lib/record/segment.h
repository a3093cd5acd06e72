/*
 * segment.h: names of a spool's segments, "00000001.records", shared by its
 * writing and its reading side.
 */
#ifndef GL_RECORD_SEGMENT_H
#define GL_RECORD_SEGMENT_H

#include <stdint.h>

#define SEGMENT_NAME_SIZE 32
#define SEGMENT_NUMBER_MAX 99999999

/* The number of a segment's name, 0 for any other name. */
uint32_t segment_number (const char *name);
void segment_name (uint32_t number, char ret_name[SEGMENT_NAME_SIZE]);

#endif /* !GL_RECORD_SEGMENT_H */
