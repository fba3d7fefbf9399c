/* Theory of operation: runs in the caller's supervisor loop. CPU time comes from the
 * process's own CPU clock, memory from /proc; both are the kernel's word. RLIMIT_DATA
 * already stops private memory; the look at the resident size is for what it does not
 * count (shared anonymous maps), so it may be a few milliseconds late. */
#include "meter.h"

#include "clock.h"
#include "fd.h"

#include <unistd.h>

#define SHORTEST_PAUSE_NS (1 * CSB_NS_PER_MS)
#define BUSY_PAUSE_NS (10 * CSB_NS_PER_MS)
#define IDLE_PAUSE_NS (160 * CSB_NS_PER_MS)

void
csb_meter_open(struct csb_meter *meter, pid_t pid, const struct csb_limits *limits,
               struct csb_procfs *procfs, const struct csb_memory *inherited)
{
    *meter = (struct csb_meter){.limits = limits,
                                .pid = pid,
                                .pause_ns = BUSY_PAUSE_NS,
                                .inherited = *inherited,
                                .procfs = *procfs};
    *procfs = (struct csb_procfs){CSB_FD_NONE, CSB_FD_NONE};
    if (meter->procfs.folder < 0) {
        csb_procfs_open(&meter->procfs, pid);
    }
}

void
csb_meter_close(struct csb_meter *meter)
{
    csb_procfs_close(&meter->procfs);
}

static uint64_t
above(uint64_t value, uint64_t base)
{
    return value > base ? value - base : 0;
}

/* Shared memory that is unmapped, or given up with madvise(2), still exists: what was asked
 * for counts, mapped or not. */
static uint64_t
own_bytes(const struct csb_meter *meter, const struct csb_memory *memory)
{
    uint64_t held = memory->private_bytes;
    if (meter->shared_asked != NULL && *meter->shared_asked > memory->shared_bytes) {
        held += *meter->shared_asked - memory->shared_bytes;
    }
    return above(held, meter->inherited.private_bytes);
}

void
csb_meter_add(struct csb_meter *meter, const struct csb_memory *memory)
{
    const uint64_t own = own_bytes(meter, memory);
    const uint64_t peak = above(memory->peak_bytes, meter->inherited.peak_bytes);
    meter->private_bytes = own > meter->private_bytes ? own : meter->private_bytes;
    meter->peak_bytes = peak > meter->peak_bytes ? peak : meter->peak_bytes;
}

static bool
take_cpu(struct csb_meter *meter)
{
    int64_t used = csb_clock_cpu_ns(meter->pid) - meter->cpu_at_ready_ns;
    bool busy = used > meter->cpu_ns + SHORTEST_PAUSE_NS / 2;
    if (meter->ready_ns != 0 && used > meter->cpu_ns) {
        meter->cpu_ns = used;
    }
    return busy;
}

void
csb_meter_last_clock(struct csb_meter *meter)
{
    (void)take_cpu(meter);
}

void
csb_meter_last_look(struct csb_meter *meter)
{
    struct csb_memory memory;
    if (csb_procfs_memory(&meter->procfs, &memory)) {
        csb_meter_add(meter, &memory);
    }
    take_cpu(meter);
}

void
csb_meter_start(struct csb_meter *meter, int64_t now_ns)
{
    int64_t used = csb_clock_cpu_ns(meter->pid);
    meter->cpu_at_ready_ns = used > 0 ? used : 0;
    meter->ready_ns = now_ns;
    meter->next_ns = now_ns + BUSY_PAUSE_NS;
    if (meter->inherited.peak_bytes == 0) {
        csb_meter_last_look(meter); /* so that an early crash has a figure */
        meter->inherited.peak_bytes = meter->peak_bytes; /* the idle interpreter's */
        meter->peak_bytes = 0;
    }
}

void
csb_meter_restart(struct csb_meter *meter, const struct csb_limits *limits,
                  int64_t now_ns)
{
    meter->limits = limits;
    meter->cpu_ns = 0;
    meter->private_bytes = 0;
    meter->pause_ns = BUSY_PAUSE_NS;
    csb_meter_start(meter, now_ns);
}

/* Always by the exact figures: page tables do not show in the resident size. Where they can
 * not be read, all that is resident counts. */
static bool
memory_passed(struct csb_meter *meter)
{
    struct csb_memory memory;
    if (!csb_procfs_memory(&meter->procfs, &memory)) {
        memory.private_bytes = csb_procfs_resident_bytes(&meter->procfs);
        memory.peak_bytes = memory.private_bytes;
    }
    csb_meter_add(meter, &memory);
    return own_bytes(meter, &memory) > meter->limits->memory_bytes;
}

/* How long until the CPU limit could be passed at the earliest. */
static int64_t
cpu_headroom_ns(const struct csb_meter *meter)
{
    int64_t cores = (int64_t)sysconf(_SC_NPROCESSORS_ONLN);
    int64_t parallel = (int64_t)meter->limits->threads;
    if (cores < 1) {
        cores = 1;
    }
    if (parallel > cores) {
        parallel = cores;
    }
    if (parallel < 1) {
        parallel = 1;
    }
    return (meter->limits->cpu_ns - meter->cpu_ns) / parallel;
}

static void
schedule(struct csb_meter *meter, int64_t now_ns, bool busy)
{
    int64_t pause;
    meter->pause_ns = busy ? BUSY_PAUSE_NS : meter->pause_ns * 2;
    if (meter->pause_ns > IDLE_PAUSE_NS) {
        meter->pause_ns = IDLE_PAUSE_NS;
    }
    pause = meter->pause_ns;
    if (cpu_headroom_ns(meter) < pause) {
        pause = cpu_headroom_ns(meter);
    }
    if (pause < SHORTEST_PAUSE_NS) {
        pause = SHORTEST_PAUSE_NS;
    }
    meter->next_ns = now_ns + pause;
    csb_meter_hurry(meter);
}

void
csb_meter_hurry(struct csb_meter *meter)
{
    if (meter->disk != NULL && meter->disk->next_ns < meter->next_ns &&
        csb_disk_in_question(meter->disk)) {
        meter->next_ns = meter->disk->next_ns;
    }
}

enum csb_stop
csb_meter_look(struct csb_meter *meter, int64_t now_ns)
{
    if (meter->ready_ns == 0 || now_ns < meter->next_ns) {
        return CSB_STOP_NONE;
    }
    schedule(meter, now_ns, take_cpu(meter));
    if (meter->cpu_ns > meter->limits->cpu_ns) {
        return CSB_STOP_CPU;
    }
    if (memory_passed(meter)) {
        return CSB_STOP_MEMORY;
    }
    if (meter->disk != NULL && csb_disk_passed(meter->disk, &meter->procfs, now_ns)) {
        return CSB_STOP_DISK;
    }
    return CSB_STOP_NONE;
}

void
csb_meter_end(struct csb_meter *meter, struct csb_facts *facts)
{
    if (meter->disk == NULL || facts->stop != CSB_STOP_NONE || meter->ready_ns == 0) {
        return;
    }
    meter->disk->next_ns = 0;
    if (csb_disk_passed(meter->disk, &meter->procfs, csb_clock_now_ns())) {
        facts->stop = CSB_STOP_DISK;
    }
}
