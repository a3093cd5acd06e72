#include <config.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "notify.h"

void notify_systemd (const char *state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv ("NOTIFY_SOCKET");
    size_t length = path ? strlen (path) : 0;
    int fd;

    if (length < 2 || length >= sizeof (address.sun_path)
        || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy (address.sun_path, path, length);
    if (path[0] == '@')
        address.sun_path[0] = '\0';
    fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (sendto (fd, state, strlen (state), MSG_NOSIGNAL | MSG_DONTWAIT,
                (struct sockaddr *)&address,
                (socklen_t)(offsetof (struct sockaddr_un, sun_path) + length))
        < 0)
        (void)0; /* systemd will say so */
    close (fd);
}
