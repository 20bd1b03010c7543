/* Servers of the studies alone; the others are those of the suites ftp and ssh. */
#pragma once
#include "bench/peers/recipe.h"

/* ferryd and sshd, which lets in the ciphers that OpenSSH still has and no longer offers. */
extern const struct recipe_list study_ssh_recipes;
extern const struct recipe_list study_rsync_recipes;
