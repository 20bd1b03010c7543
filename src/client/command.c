#include "client/command.h"

#include <string.h>

#include "base/attr.h"

static const struct command commands[] = {
    {"who", "[--json] [--state DIR]", "who is connected to the ferryd of this machine",
     command_who},
    {"kick", "[--state DIR] ID", "end one of its sessions", command_kick},
    {"bench", "SUITE", "what servers, methods, ciphers and compression cost here",
     command_bench},
    {"cp", "[-r] SOURCE... TARGET", "copy files, on this machine and others", command_cp},
    {"ls", "[-l] [-a] PLACE...", "what is in a directory, or a file, of a server", command_ls},
    {"cat", "PLACE...", "contents of files to standard output", command_cat},
    {"rm", "[-r] PLACE...", "remove files, or whole directories", command_rm},
    {"mkdir", "[-p] PLACE...", "make directories", command_mkdir},
    {"mv", "FROM TO", "rename, on one server", command_mv},
    {"probe", "PLACE", "what a copy to a server will do, and how to do it best", command_probe},
    {"sync", NULL, NULL, NULL},
    {"user", NULL, NULL, NULL},
    {"top", NULL, NULL, NULL},
    {"stats", NULL, NULL, NULL},
};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

void command_print_exit_codes(FILE *out)
{
    fputs("\n"
          "Exit status: 0 done, 1 something failed, 2 used wrongly, 3 a server could not be\n"
          "reached or let nobody in, 128 and the number of the signal that ended it.\n",
          out);
}

void command_print_help(FILE *out)
{
    fputs("usage: ferry COMMAND [ARGUMENT]...\n"
          "       ferry --help | --version\n"
          "\n",
          out);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        const struct command *c = &commands[i];
        if (c->run != NULL)
            fprintf(out, "  %-5s %-24s %s\n", c->name, c->arguments, c->help);
    }
    fputs("\n"
          "'ferry COMMAND --help' says more.\n",
          out);
    command_print_exit_codes(out);
}
