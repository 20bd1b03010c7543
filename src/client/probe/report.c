/* Findings as people read them. */
#include "client/copy/progress.h"
#include "client/probe/findings.h"

static const char *rate_text(double bytes_per_s, char ret[COPY_AMOUNT_MAX])
{
    copy_amount_text(bytes_per_s > 0 ? (uint64_t)bytes_per_s : 0, ret);
    return ret;
}

static void print_way(const char *title, const struct probe_way_seen *way,
                      enum probe_part limit, FILE *out)
{
    char rate[COPY_AMOUNT_MAX], moved[COPY_AMOUNT_MAX];
    if (way->rate.bytes_per_s <= 0) {
        fprintf(out, "%s not measured\n", title);
        return;
    }
    copy_amount_text(way->bytes, moved);
    fprintf(out, "%s %s/s, limited by %s (%s in %.1f s)\n", title,
            rate_text(way->rate.bytes_per_s, rate), probe_part_text(limit), moved,
            (double)way->took_us / 1e6);
}

static void print_ciphers(const struct probe_findings *f, FILE *out)
{
    char gcm128[COPY_AMOUNT_MAX], gcm256[COPY_AMOUNT_MAX], chacha[COPY_AMOUNT_MAX],
        ctr[COPY_AMOUNT_MAX], least[COPY_AMOUNT_MAX];
    double seen =
        f->facts.rates.up > f->facts.rates.down ? f->facts.rates.up : f->facts.rates.down;
    if (f->cipher == NULL)
        return;
    copy_amount_text(f->speeds.gcm128, gcm128);
    copy_amount_text(f->speeds.gcm256, gcm256);
    copy_amount_text(f->speeds.chacha, chacha);
    copy_amount_text(f->speeds.ctr_hmac, ctr);
    fprintf(out,
            "this CPU     aes128-gcm %s/s, aes256-gcm %s/s, chacha20 %s/s,\n"
            "             aes128-ctr with hmac-sha2-256 %s/s\n",
            gcm128, gcm256, chacha, ctr);
    fprintf(out, "cipher       %s%s", f->cipher,
            f->place->login.ciphers != NULL ? ", as it was asked for"
                                            : ", the fastest here of what both have");
    fputc('\n', out);
    if (seen > 0)
        fprintf(out, "other CPU    at least %s/s\n", rate_text(seen, least));
}

static void print_data(const struct probe_findings *f, FILE *out)
{
    const struct probe_sample *s = f->sample;
    char all[COPY_AMOUNT_MAX], sample[COPY_AMOUNT_MAX];
    copy_amount_text(s->total_bytes, all);
    copy_amount_text(s->bytes.len, sample);
    if (f->data_path == NULL)
        fputs("data         no --data was given: what follows is for text like a log\n", out);
    else
        fprintf(out, "data         %s%llu file%s, %s, of which %s was looked at\n",
                s->is_cut ? "the first " : "", (unsigned long long)s->files,
                s->files == 1 ? "" : "s", all, sample);
}

static void print_row(const struct probe_findings *f, const struct probe_forecast *of,
                      bool is_best, FILE *out)
{
    const char *names[] = {[PROBE_WAY_NONE] = "none",
                           [PROBE_WAY_LEVEL] = "level ",
                           [PROBE_WAY_AUTO] = "auto: level ",
                           [PROBE_WAY_OPENSSH] = "ssh -C (6)"};
    char name[32], cpu[COPY_AMOUNT_MAX + 2] = "-", rate[COPY_AMOUNT_MAX];
    int level = of->way == PROBE_WAY_OPENSSH ? 6 : of->level;
    bool has_level = of->way == PROBE_WAY_LEVEL || of->way == PROBE_WAY_AUTO;
    if (has_level && level == 0)
        (void)snprintf(name, sizeof(name), "auto: stored");
    else if (has_level)
        (void)snprintf(name, sizeof(name), "%s%d", names[of->way], level);
    else
        (void)snprintf(name, sizeof(name), "%s", names[of->way]);
    if (level > 0) {
        (void)rate_text(f->data.levels[level].bytes_per_s, rate);
        (void)snprintf(cpu, sizeof(cpu), "%s/s", rate);
    }
    fprintf(out, "%c %-14s %5.3f  %12s  %12s/s  %s\n", is_best ? '>' : ' ', name,
            level > 0 ? f->data.levels[level].ratio : 1.0, cpu,
            rate_text(of->bytes_per_s, rate), probe_part_text(of->limit));
}

static void print_table(const struct probe_findings *f, FILE *out)
{
    const struct probe_advice *a = &f->advice;
    if (a->up_count == 0)
        return;
    fputs("\n  compression    ratio      this CPU       predicted  limited by\n", out);
    for (unsigned i = 0; i < a->up_count; i++)
        print_row(f, &a->up[i], i == a->best, out);
    fputc('\n', out);
    if (!f->facts.can_compress)
        fputs("compression  the server has none\n", out);
}

static void print_noise(const struct probe_findings *f, FILE *out)
{
    char plain[COPY_AMOUNT_MAX], best[COPY_AMOUNT_MAX], compress[PROBE_COMPRESS_MAX];
    const struct probe_advice *a = &f->noise_advice;
    if (f->data_path != NULL || a->up_count == 0)
        return;
    probe_compress_text(&a->up[a->best], compress);
    fprintf(out, "no text      what cannot be compressed: %s/s, best with %s (%s/s)\n",
            rate_text(a->up[0].bytes_per_s, plain), compress,
            rate_text(a->up[a->best].bytes_per_s, best));
}

static void print_down(const struct probe_findings *f, FILE *out)
{
    char plain[COPY_AMOUNT_MAX], packed[COPY_AMOUNT_MAX];
    const struct probe_advice *a = &f->advice;
    if (a->down_plain <= 0)
        return;
    fprintf(out, "fetching     %s/s", rate_text(a->down_plain, plain));
    if (a->down_packed > 0)
        fprintf(out, "; compressed %s/s, if its CPU is as this one",
                rate_text(a->down_packed, packed));
    fputc('\n', out);
}

static void print_small(const struct probe_findings *f, FILE *out)
{
    const struct probe_small *s = &f->small;
    char mean[COPY_AMOUNT_MAX];
    if (s->single_per_s <= 0)
        return;
    copy_amount_text((uint64_t)f->files.mean_bytes, mean);
    fprintf(out, "small files  of %s: %.0f a second by %s, limited by %s", mean,
            s->single_per_s, f->facts.is_ssh ? "SFTP" : "FTP",
            probe_part_text(s->single_limit));
    if (s->tar_per_s > 0)
        fprintf(out, "\n             %.0f a second as one stream of tar", s->tar_per_s);
    fputc('\n', out);
}

static void print_advice(const struct probe_findings *f, FILE *out)
{
    const struct probe_advice *a = &f->advice;
    char text[PROBE_COMMAND_MAX], rate[COPY_AMOUNT_MAX], compress[PROBE_COMPRESS_MAX];
    if (a->up_count > 0) {
        const struct probe_forecast *best = &a->up[a->best];
        probe_compress_text(best, compress);
        fprintf(out, "\nadvice       by %s, compression %s: %s/s", probe_method(f), compress,
                rate_text(best->bytes_per_s, rate));
        if (a->best > 0)
            fprintf(out, ", %.1f times as fast as without",
                    best->bytes_per_s / a->up[0].bytes_per_s);
        fputc('\n', out);
    } else if (a->down_plain <= 0) {
        return;
    }
    probe_command_text(f, text);
    fprintf(out, "command      %s\n", text);
    probe_config_text(f, text);
    if (text[0] != '\0')
        fprintf(out, "\n# for $HOME/.ssh/config\n%s", text);
}

void probe_print(const struct probe_findings *f, FILE *out)
{
    if (f->server[0] != '\0')
        fprintf(out, "server       %s\n", f->server);
    fprintf(out, "login        %.2f s\nround trip   %.2f ms\n",
            (double)f->place->login_us / 1e6, (double)f->facts.rtt_us / 1e3);
    print_way("to it       ", &f->up, f->facts.rates.up_limit, out);
    print_way("from it     ", &f->down, f->facts.rates.down_limit, out);
    for (unsigned i = 0; i < f->note_count; i++)
        fprintf(out, "note         %s\n", f->notes[i]);
    print_ciphers(f, out);
    print_data(f, out);
    print_table(f, out);
    print_noise(f, out);
    print_down(f, out);
    print_small(f, out);
    print_advice(f, out);
}
