/* How a peer is run: what it is made of, which settings it gets, and what it can do. Recipes
 * are a table of their suite; nothing else knows a peer by name.
 *
 * Every recipe lifts the caps on sessions and leaves no delay in, logs nothing per command
 * where that can be turned off, and is otherwise as Debian ships it. Texts are templates
 * (recipe_text.h).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stage;

/* One server in several settings. */
enum recipe_variant {
    RECIPE_PLAIN,       /* as it comes */
    RECIPE_NO_SENDFILE, /* files are read and sent */
    RECIPE_HASHED, /* each login computes the hash, whoever remembers or compares otherwise */
    RECIPE_VARIANTS
};

const char *recipe_variant_name(enum recipe_variant); /* "plain", "no-sendfile", "hashed" */

#define RECIPE_FILES_MAX   2
#define RECIPE_FOLDERS_MAX 2
#define RECIPE_ARGS_MAX    16

struct recipe_file {
    const char *name; /* beneath @WORK@ */
    const char *text; /* template */
};

struct recipe {
    const char *name;     /* "vsftpd" */
    const char *package;  /* Debian's, which brings it; NULL: part of ferry */
    const char *program;  /* what must be there: a path beneath the package's root */
    unsigned variants;    /* 1u << enum recipe_variant, of those it has */
    bool is_floor;        /* the bound, not a peer */
    bool is_event_driven; /* a session is no process: it takes part in rows of thousands */
    unsigned lacks;       /* features, as its suite counts them */
    /* It starts as the owner of the files, since it does not change to him. */
    bool runs_as_owner;
    /* How it checks a password, for the report; NULL. */
    const char *login_note[RECIPE_VARIANTS];
    struct recipe_file files[RECIPE_FILES_MAX];
    /* What its package or start script makes in /run and /var/log. */
    const char *folders[RECIPE_FOLDERS_MAX];
    const char *pam; /* the service that it is for PAM; NULL: it asks somebody else */
    const char *args[RECIPE_ARGS_MAX]; /* templates; [0] is the program. None: the floor */
};

/* The servers that one suite measures; ferryd is the first. */
struct recipe_list {
    const char *suite; /* its name */
    const struct recipe *recipes;
    size_t count;
    const char *greeting; /* how a line begins that says: the server is there */
    const char *parting;  /* what is said then, so that no session is left */
    /* Makes in the stage what all of them need, once; NULL: nothing more. */
    int (*furnish)(const struct stage *);
};

/* Where it listens, host byte order: 127.0.0.2 for the first one, 127.0.0.3 and so on. The
 * ports of one address would be all servers' together, and those that one has left in TIME-WAIT
 * would slow down the others. */
uint32_t recipe_address(const struct recipe_list *, const struct recipe *);

/* NULL: there is none of that name. */
const struct recipe *recipe_find(const struct recipe_list *, const char *name);
bool recipe_has(const struct recipe *, enum recipe_variant);
/* -ENOENT: there is none of that name. */
int recipe_variant_find(const char *name, enum recipe_variant *ret);
