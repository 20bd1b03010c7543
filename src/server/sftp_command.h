/* "ferryd sftp-server": the SFTP server on standard input and output, with the options of
 * OpenSSH's sftp-server(8), as a subsystem of another ssh server or for "sftp -D". It serves
 * the whole file system as the user who runs it; uploads go to their names at once, as there.
 */
#pragma once

/* argv[0] is "sftp-server". The exit status. */
int sftp_command(int argc, char **argv);
