/* How an archive is packed. */
#pragma once

enum tar_filter { TAR_PLAIN, TAR_GZIP, TAR_ZSTD };
