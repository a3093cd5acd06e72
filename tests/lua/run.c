/*
 * run SCRIPT: runs a Lua script with the library that Slurm's own job_submit/lua
 * brings, without headers or an interpreter beside it. Skips where there is no
 * such library.
 */
#include <dlfcn.h>
#include <stdio.h>

typedef struct lua_State lua_State;

static void *symbol (void *library, const char *name)
{
    void *found = dlsym (library, name);

    if (!found)
        printf ("Bail out! %s is not in the library\n", name);
    return found;
}

int main (int argc, char **argv)
{
    void *lua = dlopen ("liblua5.1.so.0", RTLD_NOW | RTLD_GLOBAL);
    lua_State *(*new_state) (void);
    void (*open_libraries) (lua_State *);
    int (*load_file) (lua_State *, const char *);
    int (*call) (lua_State *, int, int, int);
    const char *(*to_text) (lua_State *, int, size_t *);
    void (*close_state) (lua_State *);
    lua_State *state;
    int rc;

    if (argc != 2)
        return 2;
    if (!lua) {
        puts ("1..0 # SKIP there is no liblua5.1.so.0");
        return 0;
    }
    *(void **)&new_state = symbol (lua, "luaL_newstate");
    *(void **)&open_libraries = symbol (lua, "luaL_openlibs");
    *(void **)&load_file = symbol (lua, "luaL_loadfile");
    *(void **)&call = symbol (lua, "lua_pcall");
    *(void **)&to_text = symbol (lua, "lua_tolstring");
    *(void **)&close_state = symbol (lua, "lua_close");
    if (!new_state || !open_libraries || !load_file || !call || !to_text
        || !close_state)
        return 1;
    state = new_state ();
    open_libraries (state);
    rc = load_file (state, argv[1]) || call (state, 0, 0, 0);
    if (rc)
        printf ("Bail out! %s\n", to_text (state, -1, NULL));
    close_state (state);
    return rc;
}
