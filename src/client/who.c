/* ferry who: the sessions of a running ferryd, as a table or as JSON lines. */
#include <stdio.h>

#include "base/mem.h"
#include "base/text.h"
#include "client/command.h"
#include "client/control_client.h"
#include "client/control_options.h"

#define CELL_MAX 65

static const char *cell(const json_t *object, const char *key, char dst[CELL_MAX])
{
    const char *value = json_string_value(json_object_get(object, key));
    text_copy_printable(dst, CELL_MAX, bytes_str(value != NULL ? value : "-"));
    return dst[0] != '\0' ? dst : "-";
}

/* "12s", "3m", "2h", "5d": what a person wants to know of a session's age. */
static const char *ago(const json_t *object, const char *key, char dst[CELL_MAX])
{
    static const struct {
        double seconds;
        char unit;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};

    double seconds = json_number_value(json_object_get(object, key));
    size_t i = 0;
    while (i + 1 < ARRAY_LEN(units) && seconds < units[i].seconds)
        i++;
    snprintf(dst, CELL_MAX, "%.0f%c", seconds / units[i].seconds, units[i].unit);
    return dst;
}

/* 80 columns, unless an address, a name or a number is longer than usual. */
#define COLUMNS_HEAD "%-6s %-5s %-21s %-14s %-8s %4s %4s %11s\n"
#define COLUMNS_ROW  "%-6lld %-5s %-21s %-14s %-8s %4s %4s %11lld\n"

static void print_head(bool *printed)
{
    if (*printed)
        return;
    *printed = true;
    printf(COLUMNS_HEAD, "ID", "PROTO", "PEER", "USER", "DOING", "AGE", "IDLE", "BYTES");
}

static void print_row(const json_t *object, void *arg)
{
    print_head(arg);
    char protocol[CELL_MAX], peer[CELL_MAX], user[CELL_MAX], doing[CELL_MAX], age[CELL_MAX],
        idle[CELL_MAX];
    printf(COLUMNS_ROW, (long long)json_integer_value(json_object_get(object, "id")),
           cell(object, "protocol", protocol), cell(object, "peer", peer),
           cell(object, "user", user), cell(object, "doing", doing), ago(object, "age_s", age),
           ago(object, "idle_s", idle),
           (long long)json_integer_value(json_object_get(object, "bytes")));
}

static void print_json(const json_t *object, void *arg)
{
    (void)arg;
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(6));
    if (text != NULL)
        puts(text);
    mem_free(text);
}

static const struct control_usage who_usage = {
    .line = "who [--json] [--state DIR]",
    .what = "Lists the sessions of a running ferryd.",
    .has_json = true,
};

int command_who(int argc, char **argv)
{
    struct control_options o;
    int code = control_options_parse(argc, argv, &who_usage, &o);
    if (code == EXIT_OK && o.help) {
        control_options_print_help(&who_usage);
    } else if (code == EXIT_OK) {
        bool printed = false;
        code = control_ask(o.state_dir, json_pack("{s:s}", "op", "who"),
                           o.json ? print_json : print_row, &printed);
        if (code == EXIT_OK && !o.json)
            print_head(&printed);
    }
    control_options_done(&o);
    return code;
}
