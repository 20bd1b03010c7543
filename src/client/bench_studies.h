/* ferry bench compression, levels, methods, ciphers: the studies. */
#pragma once

int command_bench_study(int argc, char **argv);
/* The process that a study puts between client and server: see bench/study/shaper.h. */
int command_bench_relay(int argc, char **argv);
