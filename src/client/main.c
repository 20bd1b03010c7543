/* ferry: finds the command and runs it. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client/command.h"

static int complain(const char *what, const char *word)
{
    fprintf(stderr, "ferry: %s%s\nTry 'ferry --help'.\n", what, word);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    json_set_alloc_funcs(mem_raw, mem_free);
    if (argc < 2)
        return complain("a command is missing", "");
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "help") == 0) {
        command_print_help(stdout);
        return EXIT_OK;
    }
    if (strcmp(name, "--version") == 0) {
        printf("ferry %s\n", FERRY_VERSION);
        return EXIT_OK;
    }
    if (name[0] == '-')
        return complain("unknown option ", name);
    const struct command *command = command_find(name);
    if (command == NULL)
        return complain("unknown command ", name);
    if (command->run == NULL) {
        fprintf(stderr, "ferry: '%s' is not built yet in this release\n", name);
        return EXIT_USAGE;
    }
    return command->run(argc - 1, argv + 1);
}
