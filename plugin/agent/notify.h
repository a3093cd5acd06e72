/*
 * notify.h: telling systemd how the service is: one datagram to
 * $NOTIFY_SOCKET (sd_notify(3)), nothing where that is not set.
 */
#ifndef GL_AGENT_NOTIFY_H
#define GL_AGENT_NOTIFY_H

/* "READY=1", "STOPPING=1", "WATCHDOG=1". */
void notify_systemd (const char *state);

#endif /* !GL_AGENT_NOTIFY_H */
