/*
 * crc32c.h: CRC-32C (Castagnoli), the checksum of iSCSI (RFC 3720, 12.1) and
 * ext4: reflected polynomial 0x82f63b78, initial value and final XOR all ones.
 * It finds every error burst of up to 32 bits and every error of up to 5 bits
 * in a record of our size; it is no protection against intent.
 */
#ifndef GL_RECORD_CRC32C_H
#define GL_RECORD_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c (const void *data, size_t size);

#endif /* !GL_RECORD_CRC32C_H */
