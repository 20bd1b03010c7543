#include "ftp/wire/address.h"

#include <errno.h>

#include "check.h"

static void expect_address(const struct ftp_address *a, enum ftp_family family,
                           const char *host, uint16_t port)
{
    uint8_t all[16] = {0};
    memcpy(all, host, family == FTP_FAMILY_IPV4 ? 4 : 16);
    assert_int_equal(a->family, family);
    assert_memory_equal(a->host, all, 16);
    assert_int_equal(a->port, port);
}

static void port_reads_six_numbers(void **state)
{
    (void)state;

    static const struct {
        const char *text, *host;
        uint16_t port;
    } rows[] = {
        {"127,0,0,1,8,73", "\x7f\0\0\1", 2121},
        {"0,0,0,0,0,0", "\0\0\0\0", 0},
        {"255,255,255,255,255,255", "\xff\xff\xff\xff", 65535},
        {"010,001,1,09,000,020", "\x0a\x01\x01\x09", 20}, /* decimal, never octal */
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ftp_address a;
        assert_int_equal(ftp_port_parse(bytes_str(rows[i].text), &a), 0);
        expect_address(&a, FTP_FAMILY_IPV4, rows[i].host, rows[i].port);
    }
}

static void port_refuses_anything_else(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        ",",
        ",,,,,",
        "1,2,3,4,5",
        "1,2,3,4,5,",
        "1,2,3,4,5,6,",
        "1,2,3,4,5,6,7",
        ",1,2,3,4,5",
        "1,2,,4,5,6",
        "256,2,3,4,5,6",
        "1,2,3,4,5,256",
        "1,2,3,4,5,999",
        "1,2,3,4,5,0006",
        "-1,2,3,4,5,6",
        "+1,2,3,4,5,6",
        " 1,2,3,4,5,6",
        "1,2,3,4,5,6 ",
        "1, 2,3,4,5,6",
        "1.2.3.4,5,6",
        "1,2,3,4,5,6x",
        "(1,2,3,4,5,6)",
        "0x1,2,3,4,5,6",
        "99999999999999999999,2,3,4,5,6",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ftp_address a = {.port = 7};
        assert_int_equal(ftp_port_parse(bytes_str(rows[i]), &a), -EINVAL);
        assert_int_equal(a.port, 7);
    }
}

static void eprt_reads_both_families_with_any_delimiter(void **state)
{
    (void)state;

    static const struct {
        const char *text;
        enum ftp_family family;
        const char *host;
        uint16_t port;
    } rows[] = {
        {"|1|132.235.1.2|6275|", FTP_FAMILY_IPV4, "\x84\xeb\x01\x02", 6275},
        {"|2|1080::8:800:200C:417A|5282|", FTP_FAMILY_IPV6,
         "\x10\x80\0\0\0\0\0\0\0\x08\x08\0\x20\x0c\x41\x7a", 5282},
        {"!1!127.0.0.1!1!", FTP_FAMILY_IPV4, "\x7f\0\0\1", 1},
        {"~1~127.0.0.1~65535~", FTP_FAMILY_IPV4, "\x7f\0\0\1", 65535},
        {"|01|127.0.0.1|00021|", FTP_FAMILY_IPV4, "\x7f\0\0\1", 21},
        {"|2|::|21|", FTP_FAMILY_IPV6, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 21},
        {"|2|::ffff:1.2.3.4|21|", FTP_FAMILY_IPV6,
         "\0\0\0\0\0\0\0\0\0\0\xff\xff\x01\x02\x03\x04", 21},
        {"|2|ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255|21|", FTP_FAMILY_IPV6,
         "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 21},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ftp_address a;
        assert_int_equal(ftp_eprt_parse(bytes_str(rows[i].text), &a), 0);
        expect_address(&a, rows[i].family, rows[i].host, rows[i].port);
    }
}

static void eprt_refuses_anything_else(void **state)
{
    (void)state;

    static const struct {
        const char *text;
        int result;
    } rows[] = {
        {"", -EINVAL},
        {"|", -EINVAL},
        {"||||", -EINVAL},
        {"|1|127.0.0.1|21", -EINVAL},
        {"|1|127.0.0.1|21||", -EINVAL},
        {"|1|127.0.0.1|21| ", -EINVAL},
        {"1|127.0.0.1|21|", -EINVAL},
        {" 1 127.0.0.1 21 ", -EINVAL},
        {"\x7f\x31\x7f\x31\x32\x37.0.0.1\x7f\x32\x31\x7f", -EINVAL},
        {"313127.0.0.13213", -EINVAL}, /* a digit as delimiter */
        {"|1|127.0.0.1|0|", -EINVAL},
        {"|1|127.0.0.1|65536|", -EINVAL},
        {"|1|127.0.0.1|000021|", -EINVAL},
        {"|1|127.0.0.1||", -EINVAL},
        {"|1|127.0.0.1|-1|", -EINVAL},
        {"|1||21|", -EINVAL},
        {"|1|127.1|21|", -EINVAL},
        {"|1|127.0.0.256|21|", -EINVAL},
        {"|1|127.0.0.1 |21|", -EINVAL},
        {"|1|localhost|21|", -EINVAL},
        {"|1|::1|21|", -EINVAL},
        {"|2|127.0.0.1|21|", -EINVAL},
        {"|2|fe80::1%eth0|21|", -EINVAL},
        {"|2|1:2:3:4:5:6:7:8:9|21|", -EINVAL},
        {"|2|0000:0000:0000:0000:0000:0000:0000:0000:0000:0000|21|", -EINVAL},
        {"|2|ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.2559|21|", -EINVAL},
        {"|x|127.0.0.1|21|", -EINVAL},
        {"|+1|127.0.0.1|21|", -EINVAL},
        {"|0|127.0.0.1|21|", -EPROTONOSUPPORT},
        {"|3|127.0.0.1|21|", -EPROTONOSUPPORT},
        {"|99999999999999999999|127.0.0.1|21|", -EPROTONOSUPPORT},
    };
    struct ftp_address a = {.port = 7};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(ftp_eprt_parse(bytes_str(rows[i].text), &a), rows[i].result);
    assert_int_equal(ftp_eprt_parse(BYTES_LIT("|1|127.0.0.1\0x|21|"), &a), -EINVAL);
    assert_int_equal(a.port, 7);
}

static void epsv_reads_a_family_or_all(void **state)
{
    (void)state;

    static const struct {
        const char *text;
        int result;
        enum ftp_epsv epsv;
    } rows[] = {
        {"", 0, FTP_EPSV_ANY},
        {"1", 0, FTP_EPSV_IPV4},
        {"2", 0, FTP_EPSV_IPV6},
        {"ALL", 0, FTP_EPSV_ALL},
        {"aLl", 0, FTP_EPSV_ALL},
        {"3", -EPROTONOSUPPORT, FTP_EPSV_ANY},
        {"0", -EPROTONOSUPPORT, FTP_EPSV_ANY},
        {"11", -EPROTONOSUPPORT, FTP_EPSV_ANY},
        {"ALLE", -EINVAL, FTP_EPSV_ANY},
        {"AL", -EINVAL, FTP_EPSV_ANY},
        {" 1", -EINVAL, FTP_EPSV_ANY},
        {" ", -EINVAL, FTP_EPSV_ANY},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum ftp_epsv epsv = FTP_EPSV_ANY;
        assert_int_equal(ftp_epsv_parse(bytes_str(rows[i].text), &epsv), rows[i].result);
        assert_int_equal(epsv, rows[i].epsv);
    }
}

static void formats_what_227_and_229_say(void **state)
{
    (void)state;
    char text[FTP_ADDRESS_TEXT_MAX];
    struct ftp_address a = {.family = FTP_FAMILY_IPV4, .host = {127, 0, 0, 1}, .port = 2121};
    assert_string_equal(ftp_pasv_format(&a, text), "(127,0,0,1,8,73)");
    memset(a.host, 0xff, 4);
    a.port = 65535;
    assert_string_equal(ftp_pasv_format(&a, text), "(255,255,255,255,255,255)");
    assert_string_equal(ftp_epsv_format(0, text), "(|||0|)");
    assert_string_equal(ftp_epsv_format(65535, text), "(|||65535|)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(port_reads_six_numbers),
        cmocka_unit_test(port_refuses_anything_else),
        cmocka_unit_test(eprt_reads_both_families_with_any_delimiter),
        cmocka_unit_test(eprt_refuses_anything_else),
        cmocka_unit_test(epsv_reads_a_family_or_all),
        cmocka_unit_test(formats_what_227_and_229_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
