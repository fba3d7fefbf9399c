/* Theory of operation: a pure function of the facts. A limit that was passed decides
 * before anything that the child says: also a program that ended by itself after its CPU
 * time was over gets time_limit, so the verdict does not depend on when the supervisor
 * looked. A lie in `end` can only turn one kind of failure into another. */
#include "outcome.h"

#include <signal.h>

static const char *const verdict_names[CSB_VERDICT_COUNT] = {
    [CSB_ACCEPTED] = "accepted",
    [CSB_TIME_LIMIT] = "time_limit",
    [CSB_MEMORY_LIMIT] = "memory_limit",
    [CSB_OUTPUT_LIMIT] = "output_limit",
    [CSB_RUNTIME_ERROR] = "runtime_error",
    [CSB_COMPILE_ERROR] = "compile_error",
    [CSB_REJECTED] = "rejected",
    [CSB_SECURITY_VIOLATION] = "security_violation",
    [CSB_INTERNAL_ERROR] = "internal_error",
};

static const char *const hit_names[CSB_HIT_COUNT] = {
    [CSB_HIT_CPU] = "cpu",       [CSB_HIT_WALL] = "wall",
    [CSB_HIT_MEMORY] = "memory", [CSB_HIT_OUTPUT] = "output",
    [CSB_HIT_DISK] = "disk",     [CSB_HIT_PROCESSES] = "processes",
    [CSB_HIT_FILES] = "files",
};

const char *
csb_verdict_name(enum csb_verdict verdict)
{
    return verdict < CSB_VERDICT_COUNT ? verdict_names[verdict] : "internal_error";
}

const char *
csb_limit_hit_name(enum csb_limit_hit hit)
{
    return hit < CSB_HIT_COUNT ? hit_names[hit] : NULL;
}

/* A crash in C code close to the limit: malloc returned NULL and nobody looked. */
static bool
crashed_for_memory(const struct csb_facts *facts, const struct csb_limits *limits)
{
    bool crash = facts->signal == SIGSEGV || facts->signal == SIGABRT ||
                 facts->signal == SIGBUS || facts->signal == SIGILL ||
                 facts->signal == SIGTRAP;
    return crash && facts->memory_bytes >= limits->memory_bytes / 10 * 9;
}

/* CPython's parser says MemoryError when its stack is full, far from any memory limit. */
static bool
parser_gave_up(const struct csb_facts *facts, const struct csb_limits *limits)
{
    return facts->end == CSB_END_MEMORY_ERROR && !facts->begun &&
           facts->memory_bytes < limits->memory_bytes / 2;
}

static bool
limit_passed(const struct csb_facts *facts, const struct csb_limits *limits,
             struct csb_outcome *ret)
{
    if (facts->stop == CSB_STOP_OUTPUT || facts->output_over) {
        *ret = (struct csb_outcome){CSB_OUTPUT_LIMIT, CSB_HIT_OUTPUT};
    } else if (facts->stop == CSB_STOP_DISK) {
        *ret = (struct csb_outcome){CSB_OUTPUT_LIMIT, CSB_HIT_DISK};
    } else if (facts->stop == CSB_STOP_MEMORY) {
        *ret = (struct csb_outcome){CSB_MEMORY_LIMIT, CSB_HIT_MEMORY};
    } else if (facts->stop == CSB_STOP_CPU || facts->cpu_ns > limits->cpu_ns) {
        *ret = (struct csb_outcome){CSB_TIME_LIMIT, CSB_HIT_CPU};
    } else if (facts->stop == CSB_STOP_WALL || facts->wall_ns > limits->wall_ns) {
        *ret = (struct csb_outcome){CSB_TIME_LIMIT, CSB_HIT_WALL};
    } else {
        return false;
    }
    return true;
}

struct csb_outcome
csb_classify(const struct csb_facts *facts, const struct csb_limits *limits)
{
    struct csb_outcome outcome = {CSB_RUNTIME_ERROR, CSB_HIT_NONE};
    if (facts->stop == CSB_STOP_VIOLATION || facts->signal == SIGSYS) {
        outcome.verdict = CSB_SECURITY_VIOLATION;
    } else if (facts->stop == CSB_STOP_REFUSED) {
        outcome.verdict = CSB_REJECTED;
    } else if (limit_passed(facts, limits, &outcome)) {
        return outcome;
    } else if (facts->stop == CSB_STOP_ANSWERED) {
        outcome.verdict = CSB_ACCEPTED;
    } else if (facts->stop == CSB_STOP_GARBAGE) {
        outcome.verdict = CSB_RUNTIME_ERROR;
    } else if (!facts->exit_known || facts->stop != CSB_STOP_NONE ||
               (!facts->begun && facts->exit_code == CSB_WIRE_EXIT_FAILED)) {
        outcome.verdict = CSB_INTERNAL_ERROR;
    } else if (facts->exit_code == 0 && facts->signal == 0) {
        outcome.verdict = facts->unanswered ? CSB_RUNTIME_ERROR : CSB_ACCEPTED;
    } else if (facts->signal != 0) {
        outcome = crashed_for_memory(facts, limits)
                      ? (struct csb_outcome){CSB_MEMORY_LIMIT, CSB_HIT_MEMORY}
                      : outcome;
    } else if (facts->end == CSB_END_COMPILE_ERROR || parser_gave_up(facts, limits)) {
        outcome.verdict = CSB_COMPILE_ERROR;
    } else if (facts->end == CSB_END_MEMORY_ERROR) {
        outcome = (struct csb_outcome){CSB_MEMORY_LIMIT, CSB_HIT_MEMORY};
    } else if (facts->threads_denied > 0) {
        outcome.limit_hit = CSB_HIT_PROCESSES;
    } else if (facts->files_denied > 0) {
        outcome.limit_hit = CSB_HIT_FILES;
    } else if (facts->disk_denied > 0) {
        outcome.limit_hit = CSB_HIT_DISK;
    }
    return outcome;
}
