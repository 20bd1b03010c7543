/* The commands of ferry bench about the servers that it starts. Each returns an exit code. */
#pragma once

/* ferry bench peers: which are there; --install fetches the others; --run starts one. */
int command_bench_peers(int argc, char **argv);
/* ferry bench run-peer SUITE NAME VARIANT BASE PORT: what peer_start() starts; not for people.
 */
int command_bench_inside(int argc, char **argv);
