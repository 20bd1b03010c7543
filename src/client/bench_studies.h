/* ferry bench compression, levels, methods, ciphers: the studies. */
#pragma once

int command_bench_study(int argc, char **argv);
