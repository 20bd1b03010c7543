/* Which level of compression pays on which link: two groups of files by none, 1, 6, 9 and what
 * is chosen while it runs, over ssh with two ciphers and over FTP's MODE Z. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/study/commands.h"
#include "bench/study/data.h"
#include "bench/study/goals.h"
#include "bench/study/links.h"

#define KB        UINT64_C(1024)
#define LINK_S    20 /* of a link, at most, is moved in a cell */
#define QUICK_S   2
#define LEAST_S   8 /* a group is repeated, so that what compresses to a quarter takes 2 s */
#define BYTES_MAX (UINT64_C(256) * 1024 * 1024) /* level 9 has 10 MB/s of a core */
#define GROUPS    2
#define AUTOMATIC "automatic"
#define WHOLE_S   2 /* of what takes less the choice is not judged */

static const struct link_row {
    const char *name;
    uint64_t bytes_per_s;
    bool is_quick;
} links[] = {
    {LINK_1G_NAME, LINK_1G, false},
    {LINK_100M_NAME, LINK_100M, true},
    {"8533KB/s (100Base-T)", 8533 * KB, false},
    {"955KB/s (10Base-T)", 955 * KB, true},
    {"494KB/s", 494 * KB, false},
    {"126KB/s (ADSL)", 126 * KB, true},
    {"32KB/s", 32 * KB, false},
};

static const struct level {
    const char *name, *option;
} levels[] = {
    {"none", "none"},      {"level 1", "zlib:1"}, {"level 6", "zlib:6"},
    {"level 9", "zlib:9"}, {AUTOMATIC, "auto"},
};

/* What sends. `before` and `behind` stand around a level's option. */
static const struct sender {
    const char *title, *program, *before, *behind;
    enum study_server server;
    bool is_quick;
    const char *options[ARRAY_LEN(levels)]; /* in place of ferry's; all NULL: ferry's */
} senders[] = {
    {"ferry cp to sshd, aes128-ctr",
     NULL,
     FERRY_SSH "--cipher aes128-ctr --compress ",
     FERRY_SSH_TO,
     STUDY_SSHD,
     true,
     {0}},
    {"ferry cp to sshd, chacha20-poly1305",
     NULL,
     FERRY_SSH "--cipher chacha20-poly1305@openssh.com --compress ",
     FERRY_SSH_TO,
     STUDY_SSHD,
     false,
     {0}},
    {"ferry cp to ferryd, FTP MODE Z",
     NULL,
     FERRY_FTP "--compress ",
     FERRY_FTP_TO,
     STUDY_FERRYD_FTP,
     true,
     {0}},
    {"scp to sshd, aes128-ctr",
     "scp",
     SCP "-c aes128-ctr -o Compression=",
     SCP_TO,
     STUDY_SSHD,
     true,
     {"no", NULL, "yes", NULL, NULL}},
    {"scp to sshd, chacha20-poly1305",
     "scp",
     SCP "-c chacha20-poly1305@openssh.com -o Compression=",
     SCP_TO,
     STUDY_SSHD,
     false,
     {"no", NULL, "yes", NULL, NULL}},
};

/* -- how much -- */

static const struct link_row *nth_link(const struct study *s, unsigned i)
{
    for (size_t k = 0; k < ARRAY_LEN(links); k++)
        if ((links[k].is_quick || !s->options->quick) && i-- == 0)
            return &links[k];
    return NULL;
}

static uint64_t choose_bytes(const struct study *s, unsigned i, uint64_t whole)
{
    const struct study_options *o = s->options;
    uint64_t rate = nth_link(s, i)->bytes_per_s;
    uint64_t most = rate * (o->quick ? QUICK_S : LINK_S),
             least = rate * (o->quick ? QUICK_S : LEAST_S);
    uint64_t bytes = o->full ? whole : whole < most ? whole : most;
    if (!o->full && bytes < least)
        bytes = least;
    if (o->bytes > 0 && bytes > o->bytes)
        bytes = o->bytes;
    return bytes < BYTES_MAX ? bytes : BYTES_MAX;
}

/* -- the cells -- */

static int add_cell(struct study *s, unsigned table, const struct sender *from, unsigned level,
                    unsigned group, unsigned link, unsigned data)
{
    char column[STUDY_LABEL_MAX], command[1024];
    bool is_ferry = from->program == NULL;
    const char *option = is_ferry ? levels[level].option : from->options[level];
    if (!is_ferry && strcmp(levels[level].name, AUTOMATIC) == 0)
        return 0; /* never was there */
    snprintf(column, sizeof(column), "%u %s", group + 1, levels[level].name);
    snprintf(command, sizeof(command), "%s%s%s", from->before, option != NULL ? option : "",
             from->behind);
    return study_add(s, &(struct study_what){
                            .table = table,
                            .row = s->links[link].name,
                            .column = column,
                            .program = from->program,
                            .command = option != NULL ? command : NULL,
                            .subtracts_start = true,
                            .server = from->server,
                            .link = link,
                            .data = data,
                            .retired = option == NULL ? SSH_RETIRED_LEVEL : NULL,
                        });
}

static int add_sender(struct study *s, const struct sender *from,
                      unsigned data[GROUPS][DATA_SIZES_MAX])
{
    const struct study_heading table = {
        .title = from->title,
        .corner = "TCP rate",
        .is_rate = true,
        .groups = {"Files 1 (compress well)", "Files 2 (compress badly)"},
        .chart = STUDY_LINES};
    int number = study_add_table(s, &table), r = number < 0 ? number : 0;
    for (unsigned link = 0; link < s->link_count; link++)
        for (unsigned group = 0; group < GROUPS; group++)
            for (unsigned level = 0; r == 0 && level < ARRAY_LEN(levels); level++)
                r = add_cell(s, (unsigned)number, from, level, group, link, data[group][link]);
    return r;
}

static int add_links(struct study *s)
{
    const struct link_row *row;
    int r = 0;
    for (unsigned i = 0; r >= 0 && (row = nth_link(s, i)) != NULL; i++)
        r = study_add_link(s, row->name, row->bytes_per_s);
    return r < 0 ? r : 0;
}

static int fill(struct study *s)
{
    unsigned data[GROUPS][DATA_SIZES_MAX];
    int r = add_links(s);
    for (unsigned group = 0; r == 0 && group < GROUPS; group++)
        r = data_group(s, group, s->link_count, choose_bytes, data[group]);
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(senders); i++)
        if (senders[i].is_quick || !s->options->quick)
            r = add_sender(s, &senders[i], data);
    study_note(s, "the session's start (an empty file, each time before) is taken off, as the "
                  "study did; * is the best of its row and group, which the study had in red");
    if (!s->options->full)
        study_note(s,
                   "a cell moves its group, at most %u s of the link, and at least %u s or 256 "
                   "MB: then the group is repeated, from which deflate's window of 32 KB gains "
                   "nothing",
                   s->options->quick ? QUICK_S : LINK_S, s->options->quick ? QUICK_S : LEAST_S);
    study_note(s, "the study's ciphers were 3DES and Blowfish: see ferry bench ciphers; its "
                  "client could choose the level, OpenSSH's has had none but 6 since 7.4");
    return r;
}

/* Above 100 Mbit/s a MODE Z stream is held against level 0 by the goal, and no client of ours
 * sends that. */
static bool is_past_mode_z(const struct study *s, const struct study_cell *cell)
{
    return cell->server == STUDY_FERRYD_FTP && s->links[cell->link].bytes_per_s > LINK_100M;
}

static void judge(struct study *s)
{
    study_judge_grid(
        s, "automatic: of the best fixed choice, cells of 2 s or longer",
        &(struct study_grid){.automatic = AUTOMATIC, .least = 0.95, .least_s = WHOLE_S});
    study_judge_grid(s, "automatic: of no compression (MODE Z up to 100 Mbit/s)",
                     &(struct study_grid){.automatic = AUTOMATIC,
                                          .rival = levels[0].name,
                                          .least = 0.97,
                                          .leaves_out = is_past_mode_z});
}

const struct study_suite study_levels = {
    .name = "levels",
    .title = "Levels of compression",
    .origin =
        "apparent speed of scp over links of five rates, for two groups of files, without "
        "compression and at levels 1, 6 and 9, with 3DES and with Blowfish (2001)",
    .fill = fill,
    .judge = judge,
};
