/*
 * fake_credential.h: stands in for munge: who a thread says it is, it is. With
 * the real credential.c linked, the variable means nothing.
 */
#ifndef GL_TESTS_SUPPORT_FAKE_CREDENTIAL_H
#define GL_TESTS_SUPPORT_FAKE_CREDENTIAL_H

#include <sys/types.h>

extern _Thread_local uid_t fake_credential_uid;
/* No munged answers. */
extern _Thread_local int fake_credential_down;

#endif /* !GL_TESTS_SUPPORT_FAKE_CREDENTIAL_H */
