/* Theory of operation: runs in the caller before the child may look. memfd_create(2) with
 * every seal; MFD_NOEXEC_SEAL (Linux 6.3) where the kernel knows it, which some systems
 * demand (sysctl vm.memfd_noexec). */
#include "input.h"

#include "fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

static int
make_memfd(void)
{
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd = memfd_create("csandbox-stdin", flags | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL) {
        fd = memfd_create("csandbox-stdin", flags);
    }
    return fd < 0 ? -errno : csb_fd_raise(fd);
}

static int
input_error(struct csb_error *reterr, int err)
{
    return csb_fail(reterr, CSB_STEP_PIPE, err, "make standard input: %s",
                    strerror(err));
}

int
csb_input_make(int *ret_ours, int *ret_childs, struct csb_error *reterr)
{
    int fd = make_memfd();
    *ret_ours = *ret_childs = CSB_FD_NONE;
    if (fd < 0) {
        return input_error(reterr, -fd);
    }
    *ret_ours = fd;
    *ret_childs = fcntl(fd, F_DUPFD_CLOEXEC, CSB_FD_MIN);
    return *ret_childs < 0 ? input_error(reterr, errno) : 0;
}

/* The description is shared with the child, so its position must stay at the start. */
static int
write_at_start(int fd, const unsigned char *bytes, size_t count)
{
    size_t done = 0;
    while (done < count) {
        ssize_t written = pwrite(fd, bytes + done, count - done, (off_t)done);
        if (written >= 0) {
            done += (size_t)written;
        } else if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

int
csb_input_fill(int ours, const unsigned char *bytes, size_t count,
               struct csb_error *reterr)
{
    int result = write_at_start(ours, bytes, count);
    if (result == 0 &&
        fcntl(ours, F_ADD_SEALS,
              F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        result = -errno;
    }
    return result < 0 ? input_error(reterr, -result) : 0;
}
