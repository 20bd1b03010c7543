/* The commands of ferry: one table, from which the help text is made.
 *
 * A command gets its own argument vector (argv[0] is its name) and returns an exit code, the
 * highest that holds; it says why itself. Who was ended by a signal returns 128 and its number.
 */
#pragma once
#include <stdio.h>

enum {
    EXIT_OK = 0,
    EXIT_FAILED = 1,   /* something failed, and was named */
    EXIT_USAGE = 2,    /* used wrongly: nothing was tried */
    EXIT_NO_LOGIN = 3, /* a server could not be reached or let nobody in */
};

struct command {
    const char *name;
    const char *arguments;
    const char *help;
    int (*run)(int argc, char **argv); /* NULL: not built yet in this release */
};

/* NULL: there is none of that name. */
const struct command *command_find(const char *name);
void command_print_help(FILE *);
/* A line or two, for the help of each command. */
void command_print_exit_codes(FILE *);

int command_who(int argc, char **argv);   /* client/who.c */
int command_kick(int argc, char **argv);  /* client/kick.c */
int command_bench(int argc, char **argv); /* client/bench.c */
int command_cp(int argc, char **argv);    /* client/cp.c */
int command_ls(int argc, char **argv);    /* client/ls.c */
int command_cat(int argc, char **argv);   /* client/cat.c */
int command_rm(int argc, char **argv);    /* client/rm.c */
int command_mkdir(int argc, char **argv); /* client/mkdir.c */
int command_mv(int argc, char **argv);    /* client/mv.c */
int command_probe(int argc, char **argv); /* client/probe.c */
