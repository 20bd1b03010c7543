/* Commands that several studies have, as templates (client.h). Peers run with their defaults;
 * what is said is what the study's cell is about, and how to log in. */
#pragma once

#define SCP      "/usr/bin/scp @SSH@ -q "
#define SCP_TO   " @DATA@ @HOST@:in/"
#define SCP_FREE "-o Compression=no " /* as the studies write it */

#define FERRY_SSH    "@FERRY@ cp -q -B -F @HOME@/ssh_config -P @PORT@ "
#define FERRY_SSH_TO " @DATA@ @HOST@:in/"
#define FERRY_FTP    "@FERRY@ cp -q -B "
#define FERRY_FTP_TO " @DATA@ ftp://bench@@HOST@:@PORT@/in/"

#define CURL_FTP                                                                               \
    "/usr/bin/curl -sS --netrc-file @HOME@/.netrc -T @DATA@ ftp://@HOST@:@PORT@/in/"
/* A shell command: lftp takes its own as one word. It would go over to TLS where it could. */
#define LFTP(z)                                                                                \
    "/usr/bin/lftp -c 'set ftp:ssl-allow no; " z                                               \
    "; open -u bench,@PASSWORD@ -p @PORT@ @HOST@; put @DATA@ -o in/@NAME@'"
#define NCFTPPUT "/usr/bin/ncftpput -V -m -u bench -p @PASSWORD@ -P @PORT@ @HOST@ in @DATA@"

#define SSH_RETIRED_BLOWFISH "OpenSSH has no Blowfish since 7.6 (2017)"
#define SSH_RETIRED_ARCFOUR  "OpenSSH has no RC4 since 7.6 (2017)"
#define SSH_RETIRED_ONE      "OpenSSH has no SSH-1 since 7.6 (2017)"
#define SSH_RETIRED_LEVEL                                                                      \
    "OpenSSH has no CompressionLevel since 7.4 (2016): what compresses, compresses at level 6"
