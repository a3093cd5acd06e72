/* mail_words.h: words of letters. Yours to free. Pure. */
#ifndef GL_MAIL_MAIL_WORDS_H
#define GL_MAIL_MAIL_WORDS_H

/* "October 2026" of "2026-10", "5 Oct 2026" of "2026-10-05". */
char *mail_month_text (const char *month);

/* "statement-2026-10-vision.csv"; of a long name its first letters. `name` "": without
 * one. */
char *mail_file_name (const char *kind, const char *period, const char *name);

#endif /* !GL_MAIL_MAIL_WORDS_H */
