/*
 * pty COLUMNS COMMAND...: runs the command at a terminal of its own that is so
 * wide, and prints what the terminal gets. 0: its size is not known. The exit
 * status is the command's; 99: there is no terminal to be had.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define NO_TERMINAL 99

static void __attribute__ ((noreturn))
run (const char *name, int columns, char **argv)
{
    struct winsize size
        = {.ws_col = (unsigned short)columns, .ws_row = columns ? 24 : 0};
    struct termios modes;
    int fd;

    setsid ();
    fd = open (name, O_RDWR);
    if (fd < 0 || ioctl (fd, TIOCSCTTY, 0) < 0 || tcgetattr (fd, &modes) < 0)
        _exit (NO_TERMINAL);
    modes.c_oflag &= ~(tcflag_t)OPOST; /* LF stays LF */
    modes.c_lflag &= ~(tcflag_t)ECHO;
    tcsetattr (fd, TCSANOW, &modes);
    ioctl (fd, TIOCSWINSZ, &size);
    dup2 (fd, STDIN_FILENO);
    dup2 (fd, STDOUT_FILENO);
    dup2 (fd, STDERR_FILENO);
    execvp (argv[0], argv);
    _exit (127);
}

/* Until nobody has the terminal open any more, which is EIO. */
static void copy (int fd)
{
    char data[4096];
    ssize_t n;

    while ((n = read (fd, data, sizeof (data))) > 0
           || (n < 0 && errno == EINTR))
        if (n > 0)
            fwrite (data, 1, (size_t)n, stdout);
}

int main (int argc, char **argv)
{
    int fd = posix_openpt (O_RDWR | O_NOCTTY), status;
    pid_t pid;

    if (argc < 3 || fd < 0 || grantpt (fd) < 0 || unlockpt (fd) < 0)
        return NO_TERMINAL;
    fcntl (fd, F_SETFD, FD_CLOEXEC);
    pid = fork ();
    if (pid == 0)
        run (ptsname (fd), atoi (argv[1]), argv + 2);
    copy (fd);
    if (pid < 0 || waitpid (pid, &status, 0) < 0)
        return NO_TERMINAL;
    return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}
