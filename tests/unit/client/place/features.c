#include "client/place/features.h"

#include "check.h"

static void lines_of_feat_are_understood_whatever_stands_around_them(void **state)
{
    (void)state;
    struct ftp_features f = ftp_features_parse(
        BYTES_LIT("211-Features:\n MDTM\n MLST type*;size*;\n SIZE\r\n REST STREAM\n"
                  " hash SHA-1;SHA-256*;MD5\n MODE Z\n UTF8\n MFMTX\n"));
    assert_true(f.has_mdtm && f.has_mlst && f.has_size && f.has_rest && f.has_hash &&
                f.has_mode_z && f.has_utf8);
    assert_false(f.has_mfmt);
    f = ftp_features_parse(BYTES_LIT(" HASH MD5;SHA-2567\n REST\n MODE ZZ\n"));
    assert_false(f.has_hash || f.has_rest || f.has_mode_z);
    f = ftp_features_parse(BYTES_NONE);
    assert_false(f.has_mlst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_feat_are_understood_whatever_stands_around_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
