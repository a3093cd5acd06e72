/*
 * deliver.h: a message that is written already, to a mail program or to a file.
 */
#ifndef GL_MAIL_DELIVER_H
#define GL_MAIL_DELIVER_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"

/*
 * Runs `command`, a program and its arguments, without a shell, with
 * "-i -f SENDER -- RECIPIENT..." added and the message as standard input, as sendmail
 * and the programs that replace it take it. Names of addresses are left out. -1 with
 * an error if the program does not end with 0 within two minutes: nobody is then known
 * to have accepted the message.
 */
int deliver_sendmail (const text_list_t *command, const char *sender,
                      const text_list_t *recipients, const buffer_t *message,
                      gl_error_t *error);

/*
 * Appends the message to a file in mbox form, "-": to standard output. A new file can
 * be read by its owner alone. It is locked meanwhile (fcntl) and on the disk
 * afterwards. -1 with an error: a part of the message that was written is taken back.
 */
int deliver_mbox (const char *path, int64_t date, const buffer_t *message,
                  gl_error_t *error);

#endif /* !GL_MAIL_DELIVER_H */
