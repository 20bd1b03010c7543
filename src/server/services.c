#include "server/services.h"

#include "server/exec/exec.h"

const struct ssh_service services_ssh[] = {
    {"", false, exec_open, exec_run, exec_close},
    {0},
};
