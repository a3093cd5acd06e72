/* print: what the libraries have as data, for the tests of this folder. */
#include <stdio.h>
#include <string.h>

#include "render/render.h"

int main (int argc, char **argv)
{
    if (argc == 2 && !strcmp (argv[1], "schema"))
        return fputs (render_json_schema, stdout) < 0;
    fprintf (stderr, "usage: print schema\n");
    return 2;
}
