/*
 * print_config man|default: the keys of gpuledger.yaml as they stand in the
 * schema, for the manual page and for the commented file that is installed.
 */
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "config/config.h"

int main (int argc, char **argv)
{
    BUFFER_AUTO out = BUFFER_INIT;

    if (argc == 2 && !strcmp (argv[1], "man"))
        config_print_man (&out);
    else if (argc == 2 && !strcmp (argv[1], "default"))
        config_print_default (&out, false);
    else {
        fputs ("usage: print_config man|default\n", stderr);
        return 2;
    }
    fputs (buffer_text (&out), stdout);
    return ferror (stdout) || fclose (stdout) != 0;
}
