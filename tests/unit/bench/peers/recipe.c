#include "bench/peers/recipe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "bench/ftp/suite.h"
#include "bench/peers/recipe_text.h"
#include "check.h"

static struct stage stage;
static struct addr address;

static int setup(void **state)
{
    (void)state;
    snprintf(stage.files, sizeof(stage.files), "/stage/files");
    snprintf(stage.password, sizeof(stage.password), "secret");
    for (unsigned i = 0; i < STAGE_ACCOUNTS; i++)
        snprintf(stage.hashes[i], sizeof(stage.hashes[i]), "$y$%u", i);
    stage.uid = 1234;
    assert_int_equal(addr_parse(BYTES_LIT("127.0.0.3:2121"), &address), 0);
    return 0;
}

static struct recipe_words words(enum recipe_variant variant)
{
    return (struct recipe_words){
        .stage = &stage,
        .variant = variant,
        .work = "/stage/work",
        .root = "/root",
        .listen = &address,
        .accounts = 3,
    };
}

static const char *fill(const char *text, enum recipe_variant variant, int expect)
{
    static char result[RECIPE_TEXT_MAX];
    struct recipe_words w = words(variant);
    struct buf out;
    buf_init(&out, RECIPE_TEXT_MAX);
    assert_int_equal(recipe_text_fill(text, &w, &out), expect);
    snprintf(result, sizeof(result), "%.*s", (int)out.len, (const char *)out.data);
    buf_done(&out);
    return result;
}

static void words_stand_for_what_is_known(void **state)
{
    (void)state;
    assert_string_equal(fill("a @FOLDER@:@PORT@ @WORK@@ROOT@ @UID@", RECIPE_PLAIN, 0),
                        "a /stage/files:2121 /stage/work/root 1234");
    assert_string_equal(fill("@ADDRESS@:@PORT@", RECIPE_PLAIN, 0), "127.0.0.3:2121");
    assert_string_equal(fill("@PASSWORD@\n", RECIPE_PLAIN, 0), "secret\n");
}

static void an_at_sign_that_is_no_word_stays(void **state)
{
    (void)state;
    assert_string_equal(fill("@ a@b @property @PORT", RECIPE_PLAIN, 0),
                        "@ a@b @property @PORT");
}

static void an_unknown_word_is_refused(void **state)
{
    (void)state;
    fill("x @WORT@", RECIPE_PLAIN, -EINVAL);
}

static void a_line_may_be_of_some_variants_only(void **state)
{
    (void)state;
    static const char text[] = "a\n!hashed b\n!plain,no-sendfile c\nd\n";
    assert_string_equal(fill(text, RECIPE_PLAIN, 0), "a\nc\nd\n");
    assert_string_equal(fill(text, RECIPE_NO_SENDFILE, 0), "a\nc\nd\n");
    assert_string_equal(fill(text, RECIPE_HASHED, 0), "a\nb\nd\n");
    fill("!hashd b\n", RECIPE_PLAIN, -EINVAL);
}

static void a_line_may_be_of_each_account(void **state)
{
    (void)state;
    assert_string_equal(fill("!each @NAME@=@HASH@\n.", RECIPE_PLAIN, 0),
                        "bench=$y$0\nbench1=$y$1\nbench2=$y$2\n.");
    assert_string_equal(fill("!hashed !each @NAME@\n", RECIPE_PLAIN, 0), "");
    assert_string_equal(fill("!hashed !each @NAME@\n", RECIPE_HASHED, 0),
                        "bench\nbench1\nbench2\n");
}

/* -- the table -- */

static void every_recipe_is_found_by_its_own_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < ftp_recipes.count; i++)
        assert_ptr_equal(recipe_find(&ftp_recipes, ftp_recipes.recipes[i].name),
                         &ftp_recipes.recipes[i]);
    assert_null(recipe_find(&ftp_recipes, "wu-ftpd"));
}

static void every_text_of_a_recipe_can_be_filled_in(void **state)
{
    (void)state;
    for (size_t i = 0; i < ftp_recipes.count; i++) {
        const struct recipe *r = &ftp_recipes.recipes[i];
        for (enum recipe_variant v = 0; v < RECIPE_VARIANTS; v++) {
            for (unsigned k = 0; recipe_has(r, v) && k < RECIPE_FILES_MAX; k++)
                if (r->files[k].name != NULL)
                    assert_true(strlen(fill(r->files[k].text, v, 0)) > 0);
            for (unsigned k = 0; recipe_has(r, v) && k < RECIPE_ARGS_MAX; k++)
                if (r->args[k] != NULL)
                    fill(r->args[k], v, 0);
        }
    }
}

static void the_report_can_say_how_every_variant_checks_a_password(void **state)
{
    (void)state;
    for (size_t i = 0; i < ftp_recipes.count; i++) {
        assert_true(recipe_has(&ftp_recipes.recipes[i], RECIPE_PLAIN));
        for (enum recipe_variant v = 0; v < RECIPE_VARIANTS; v++)
            if (recipe_has(&ftp_recipes.recipes[i], v))
                assert_non_null(ftp_recipes.recipes[i].login_note[v]);
    }
}

static void a_variant_with_a_switch_of_its_own_has_other_settings(void **state)
{
    (void)state;

    static const struct {
        const char *name;
        enum recipe_variant variant;
    } differing[] = {
        {"ferryd", RECIPE_HASHED},       {"vsftpd", RECIPE_NO_SENDFILE},
        {"proftpd", RECIPE_NO_SENDFILE}, {"pyftpdlib", RECIPE_NO_SENDFILE},
        {"pyftpdlib", RECIPE_HASHED},
    };

    for (unsigned i = 0; i < ARRAY_LEN(differing); i++) {
        const char *text = recipe_find(&ftp_recipes, differing[i].name)->files[0].text;
        static char plain[RECIPE_TEXT_MAX];
        snprintf(plain, sizeof(plain), "%s", fill(text, RECIPE_PLAIN, 0));
        assert_string_not_equal(fill(text, differing[i].variant, 0), plain);
    }
}

static void variants_are_found_by_name(void **state)
{
    (void)state;
    for (enum recipe_variant v = 0; v < RECIPE_VARIANTS; v++) {
        enum recipe_variant found = RECIPE_VARIANTS;
        assert_int_equal(recipe_variant_find(recipe_variant_name(v), &found), 0);
        assert_int_equal(found, v);
    }
    enum recipe_variant found;
    assert_int_equal(recipe_variant_find("", &found), -ENOENT);
}

static void every_server_has_an_address_of_its_own(void **state)
{
    (void)state;
    assert_int_equal(recipe_address(&ftp_recipes, &ftp_recipes.recipes[0]), 0x7f000002);
    for (size_t i = 1; i < ftp_recipes.count; i++)
        assert_int_equal(recipe_address(&ftp_recipes, &ftp_recipes.recipes[i]), 0x7f000002 + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_stand_for_what_is_known),
        cmocka_unit_test(every_server_has_an_address_of_its_own),
        cmocka_unit_test(an_at_sign_that_is_no_word_stays),
        cmocka_unit_test(an_unknown_word_is_refused),
        cmocka_unit_test(a_line_may_be_of_some_variants_only),
        cmocka_unit_test(a_line_may_be_of_each_account),
        cmocka_unit_test(every_recipe_is_found_by_its_own_name),
        cmocka_unit_test(every_text_of_a_recipe_can_be_filled_in),
        cmocka_unit_test(the_report_can_say_how_every_variant_checks_a_password),
        cmocka_unit_test(a_variant_with_a_switch_of_its_own_has_other_settings),
        cmocka_unit_test(variants_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
