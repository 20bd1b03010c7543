/* Between the files of an endpoint by scp's old protocol. */
#pragma once
#include "client/remote/endpoint.h"
#include "scp/client.h"

/* What a complaint is about, from its words: servers send no numbers. -FERRY_EREFUSED:
 * something else. Pure. */
int scp_complaint_result(struct bytes text);
/* The last component of the path that a complaint is about: "scp: PATH: REASON". BYTES_NONE: it
 * has none, or none that can be a file's. Pure. */
struct bytes scp_complaint_name(struct bytes text);
/* The path is a directory that has no name of its own to be asked for by: "", ".", "/", "a/..".
 * Pure. */
bool scp_is_nameless(struct bytes path);
