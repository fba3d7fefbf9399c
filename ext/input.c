/* Theory of operation: runs in the caller before the child exists. memfd_create(2) with
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
fill_and_seal(int fd, const unsigned char *bytes, size_t count)
{
    int result = csb_fd_write_all(fd, bytes, count);
    if (result < 0) {
        return result;
    }
    if (lseek(fd, 0, SEEK_SET) != 0 ||
        fcntl(fd, F_ADD_SEALS,
              F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        return -errno;
    }
    return 0;
}

int
csb_input_make(const unsigned char *bytes, size_t count, int *ret_fd,
               struct csb_error *reterr)
{
    int fd = make_memfd();
    int result = fd < 0 ? fd : fill_and_seal(fd, bytes, count);
    *ret_fd = CSB_FD_NONE;
    if (result < 0) {
        csb_fd_close(&fd);
        return csb_fail(reterr, CSB_STEP_PIPE, -result, "make standard input: %s",
                        strerror(-result));
    }
    *ret_fd = fd;
    return 0;
}
