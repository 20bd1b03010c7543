#include "handle_ground.h"

/* -- what is made or truncated -- */

static void body_a_new_file_appears_when_its_handle_is_closed(struct ground *g)
{
    struct vhandle *h;
    struct vstat st;
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    TASK_ASSERT(vhandle_is_hidden(h));
    TASK_ASSERT(bytes_equal(vpath_bytes(vhandle_path(h)), BYTES_LIT("/f")));
    TASK_ASSERT(put(h, 0, "contents") == 0);
    TASK_ASSERT(!tree_has(&g->t, "root/f") && temps(g) == 1);
    TASK_ASSERT(vhandle_stat(h, &st) == 0 && st.size_bytes == 8 && st.kind == VSTAT_FILE);
    TASK_ASSERT(used(g, 8, 1));
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "contents"));
    TASK_ASSERT(used(g, 8, 1));
}
ON_FRESH_GROUND(a_new_file_appears_when_its_handle_is_closed)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_file_appears_when_its_handle_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
