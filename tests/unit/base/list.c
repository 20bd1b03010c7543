#include "base/list.h"

#include "check.h"

struct item {
    int n;
    struct list node;
};

static struct item *item_of(struct list *node)
{
    return LIST_ENTRY(node, struct item, node);
}

static void items_keep_their_order(void **state)
{
    (void)state;
    struct list head;
    struct item items[3] = {{.n = 1}, {.n = 2}, {.n = 3}};
    list_init(&head);
    assert_true(list_empty(&head));
    for (unsigned i = 0; i < 3; i++)
        list_append(&head, &items[i].node);
    assert_false(list_empty(&head));
    int n = 0;
    LIST_EACH(it, &head)
    assert_int_equal(item_of(it)->n, ++n);
    assert_int_equal(n, 3);
    for (n = 1; n <= 3; n++)
        assert_int_equal(item_of(list_pop(&head))->n, n);
    assert_null(list_pop(&head));
}

static void the_current_item_may_be_removed(void **state)
{
    (void)state;
    struct list head;
    struct item items[4] = {{.n = 1}, {.n = 2}, {.n = 3}, {.n = 4}};
    list_init(&head);
    for (unsigned i = 0; i < 4; i++)
        list_append(&head, &items[i].node);
    LIST_EACH_SAFE(it, &head)
    {
        if (item_of(it)->n % 2 == 0)
            list_remove(it);
    }
    assert_int_equal(item_of(list_pop(&head))->n, 1);
    assert_int_equal(item_of(list_pop(&head))->n, 3);
    assert_true(list_empty(&head));
}

static void a_removed_item_is_in_no_list(void **state)
{
    (void)state;
    struct list head;
    struct item item = {.n = 1};
    list_init(&head);
    list_init(&item.node);
    list_remove(&item.node);
    list_append(&head, &item.node);
    list_remove(&item.node);
    assert_true(list_empty(&item.node));
    assert_true(list_empty(&head));
    list_remove(&item.node);
    assert_true(list_empty(&head));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_keep_their_order),
        cmocka_unit_test(the_current_item_may_be_removed),
        cmocka_unit_test(a_removed_item_is_in_no_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
