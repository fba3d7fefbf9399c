/* Theory of operation: runs in a zygote before its last layers (PR_SET_MDWE would refuse it) and
 * long before untrusted code. fork(2) copies the page tables of a mapping only when it holds
 * a page of the process's own (the kernel's vma_needs_copy); code is mapped again in each
 * child, fault by fault. One byte of each library's read-only segments is therefore written
 * over with itself: a page more for the zygote, some seventy faults less for each child. Where
 * a security module refuses it, nothing is lost but that. */
#include "child_warm.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

static void
own_one_page(uintptr_t begin, uintptr_t end, int protection)
{
    volatile unsigned char *first = (unsigned char *)begin;
    /* For one write of ours, long before code of anybody else.
     * NOLINTNEXTLINE(clang-analyzer-security.MmapWriteExec) */
    if (mprotect((void *)begin, end - begin, protection | PROT_WRITE) != 0) {
        return;
    }
    *first = *first;
    if (mprotect((void *)begin, end - begin, protection) != 0) {
        csb_child_give_up(); /* never go on with code that can be written to */
    }
}

static int
visit(struct dl_phdr_info *info, size_t size, void *page_bytes)
{
    const uintptr_t mask = *(const uintptr_t *)page_bytes - 1;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + header->p_vaddr;
        int protection = PROT_READ | (header->p_flags & PF_X ? PROT_EXEC : 0);
        if (header->p_type == PT_LOAD && (header->p_flags & PF_W) == 0) {
            own_one_page(begin & ~mask, (begin + header->p_memsz + mask) & ~mask,
                         protection);
        }
    }
    return 0;
}

void
csb_child_keep_code_mapped(void)
{
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)dl_iterate_phdr(visit, &page_bytes);
}
