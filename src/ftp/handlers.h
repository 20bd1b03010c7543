/* The functions behind the rows of the command table (commands.c), by file.
 *
 * A handler answers its command with exactly one reply, or starts a transfer whose end does.
 * Its result is that of writing the reply: 0, or a failure that ends the session; a refused
 * command is 0. */
#pragma once
#include "ftp/commands.h"

/* login.c */
PARKS int ftp_cmd_user(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_pass(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_acct(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_rein(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_quit(struct ftp_session *, const struct ftp_args *);

/* names.c */
PARKS int ftp_cmd_cwd(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_cdup(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_pwd(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_mkd(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_rmd(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_dele(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_rnfr(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_rnto(struct ftp_session *, const struct ftp_args *);

/* facts.c */
PARKS int ftp_cmd_size(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_mdtm(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_mfmt(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_mlst(struct ftp_session *, const struct ftp_args *);

/* params.c */
PARKS int ftp_cmd_type(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_stru(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_mode(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_rest(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_allo(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_opts(struct ftp_session *, const struct ftp_args *);

/* info.c */
PARKS int ftp_cmd_noop(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_syst(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_feat(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_help(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_stat(struct ftp_session *, const struct ftp_args *);

/* site.c */
PARKS int ftp_cmd_site(struct ftp_session *, const struct ftp_args *);

/* data.c */
PARKS int ftp_cmd_pasv(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_epsv(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_port(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_eprt(struct ftp_session *, const struct ftp_args *);

/* transfer.c */
PARKS int ftp_cmd_abor(struct ftp_session *, const struct ftp_args *);

/* retrieve.c, store.c, listing.c */
PARKS int ftp_cmd_retr(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_stor(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_stou(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_appe(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_list(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_nlst(struct ftp_session *, const struct ftp_args *);
PARKS int ftp_cmd_mlsd(struct ftp_session *, const struct ftp_args *);
