/* Intrusive doubly linked list with a head node. A node that is in no list points to itself. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *prev, *next;
};

#define LIST_ENTRY(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))
#define LIST_EACH(it, head)            for (struct list *it = (head)->next; it != (head); it = it->next)
/* The current node may be removed. */
#define LIST_EACH_SAFE(it, head)                                                               \
    for (struct list *it = (head)->next, *it##_next = it->next; it != (head);                  \
         it = it##_next, it##_next = it->next)

static inline void list_init(struct list *l)
{
    l->prev = l->next = l;
}

static inline bool list_empty(const struct list *l)
{
    return l->next == l;
}

static inline void list_append(struct list *head, struct list *node)
{
    node->prev = head->prev;
    node->next = head;
    head->prev->next = node;
    head->prev = node;
}

static inline void list_remove(struct list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

/* First node, removed; NULL if empty. */
static inline struct list *list_pop(struct list *head)
{
    struct list *node = head->next;
    if (node == head)
        return NULL;
    list_remove(node);
    return node;
}
