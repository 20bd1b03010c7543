/* Listings over the control connection (internal to ftp/): STAT with a path. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

struct ftp_session;

PARKS MUST_CHECK int ftp_say_listing(struct ftp_session *, struct bytes argument);
