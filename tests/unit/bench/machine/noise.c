#include "bench/machine/noise.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "unit/bench/folder_fixture.h"

#define MIB 1048576

static struct noise_owner us(void)
{
    return (struct noise_owner){getuid(), getgid()};
}

static off_t length_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

static void a_file_is_as_long_as_was_asked_for_and_made_once(void **state)
{
    (void)state;
    struct stat first, second;
    assert_int_equal(noise_file(in_folder("a"), 2 * MIB + 5, us()), 0);
    assert_int_equal(length_of(in_folder("a")), 2 * MIB + 5);
    assert_int_equal(stat(in_folder("a"), &first), 0);
    assert_int_equal(noise_file(in_folder("a"), 2 * MIB + 5, us()), 0);
    assert_int_equal(stat(in_folder("a"), &second), 0);
    assert_int_equal(first.st_ctim.tv_nsec, second.st_ctim.tv_nsec);
    assert_int_equal(noise_file(in_folder("a"), 7, us()), 0);
    assert_int_equal(length_of(in_folder("a")), 7);
}

static void two_files_hold_different_noise(void **state)
{
    (void)state;
    assert_int_equal(noise_file(in_folder("a"), 1000, us()), 0);
    assert_int_equal(noise_file(in_folder("b"), 1000, us()), 0);
    assert_int_equal(noise_compare(in_folder("a"), in_folder("b")), -FERRY_EPROTO);
    assert_int_equal(noise_compare(in_folder("a"), in_folder("a")), 0);
}

static void a_copy_that_lacks_a_byte_or_has_another_is_no_copy(void **state)
{
    (void)state;
    put("whole", "0123456789");
    put("same", "0123456789");
    put("short", "012345678");
    put("other", "0123456788");
    assert_int_equal(noise_compare(in_folder("whole"), in_folder("same")), 0);
    assert_int_equal(noise_compare(in_folder("whole"), in_folder("short")), -FERRY_EPROTO);
    assert_int_equal(noise_compare(in_folder("short"), in_folder("whole")), -FERRY_EPROTO);
    assert_int_equal(noise_compare(in_folder("whole"), in_folder("other")), -FERRY_EPROTO);
    assert_int_equal(noise_compare(in_folder("whole"), in_folder("none")), -ENOENT);
}

static void folders_are_the_same_when_each_file_is_and_there_is_no_other(void **state)
{
    (void)state;
    assert_int_equal(noise_folder(in_folder("few"), 3, 100, us()), 0);
    assert_int_equal(length_of(in_folder("few/file-000002.dat")), 100);
    assert_int_equal(
        noise_compare(in_folder("few/file-000000.dat"), in_folder("few/file-000001.dat")),
        -FERRY_EPROTO);
    put("a/x", "1");
    put("a/y", "2");
    put("b/x", "1");
    assert_int_equal(noise_compare_folders(in_folder("a"), in_folder("b")), -FERRY_EPROTO);
    put("b/y", "3");
    assert_int_equal(noise_compare_folders(in_folder("a"), in_folder("b")), -FERRY_EPROTO);
    put("b/y", "2");
    assert_int_equal(noise_compare_folders(in_folder("a"), in_folder("b")), 0);
    put("b/z", "3");
    assert_int_equal(noise_compare_folders(in_folder("a"), in_folder("b")), -FERRY_EPROTO);
}

static void a_file_is_its_first_block_again_and_again(void **state)
{
    (void)state;
    uint8_t *blocks = malloc(3 * NOISE_BLOCK_BYTES);
    assert_non_null(blocks);
    assert_int_equal(noise_file(in_folder("a"), 2 * MIB + 5, us()), 0);
    assert_int_equal(noise_read_block(in_folder("a"), blocks), 0);
    FILE *file = fopen(in_folder("a"), "rb");
    assert_non_null(file);
    uint8_t *whole = blocks + NOISE_BLOCK_BYTES;
    assert_int_equal(fread(whole, 1, NOISE_BLOCK_BYTES, file), NOISE_BLOCK_BYTES);
    assert_memory_equal(whole, blocks, NOISE_BLOCK_BYTES);
    assert_int_equal(fread(whole, 1, 2 * NOISE_BLOCK_BYTES, file), NOISE_BLOCK_BYTES + 5);
    assert_memory_equal(whole, blocks, NOISE_BLOCK_BYTES);
    assert_memory_equal(whole + NOISE_BLOCK_BYTES, blocks, 5);
    fclose(file);
    put("short", "1");
    assert_int_equal(noise_read_block(in_folder("short"), blocks), -FERRY_ETRUNCATED);
    free(blocks);
}

static void what_is_removed_need_not_be_there(void **state)
{
    (void)state;
    put("x", "1");
    assert_int_equal(noise_remove(in_folder("x")), 0);
    assert_false(file_exists(in_folder("x")));
    assert_int_equal(noise_remove(in_folder("x")), 0);
}

int main(void)
{
#define TEST(name)                                                                             \
    cmocka_unit_test_setup_teardown(name, folder_fixture_setup, folder_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_as_long_as_was_asked_for_and_made_once),
        TEST(two_files_hold_different_noise),
        TEST(a_copy_that_lacks_a_byte_or_has_another_is_no_copy),
        TEST(folders_are_the_same_when_each_file_is_and_there_is_no_other),
        TEST(a_file_is_its_first_block_again_and_again),
        TEST(what_is_removed_need_not_be_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
