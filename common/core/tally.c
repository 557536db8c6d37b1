/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "hash.h"
#include "tally.h"

enum { TEXT_BYTES = 32 };

const char *arc_reason_text(arc_reason_t reason)
{
    static const char *const texts[] = {
#define X(_id, _text) [ARC_REASON_##_id] = _text,
        ARC_REASON_TABLE(X)
#undef X
    };
    return texts[reason];
}

/* ---- rows ---- */

/* The row of these facts, or a free one for them. */
static arc_tally_row_t *find(arc_tally_t *tally, const uint32_t fact[ARC_TALLY_FACTS])
{
    uint64_t hash = ARC_HASH_EMPTY;

    for (size_t i = 0; i < ARC_TALLY_FACTS; ++i) {
        hash = arc_hash_add(hash, fact[i]);
    }
    arc_tally_row_t *row = &tally->row[hash % ARC_TALLY_ROWS];
    while (0 != row->calls && 0 != memcmp(row->fact, fact, sizeof row->fact)) {
        row = row == &tally->row[ARC_TALLY_ROWS - 1] ? tally->row : row + 1;
    }
    return row;
}

arc_tally_row_t *arc_tally_count(arc_tally_t *tally, const uint32_t fact[ARC_TALLY_FACTS],
                                 size_t bytes)
{
    arc_tally_row_t *row = find(tally, fact);

    if (0 == row->calls && tally->used >= ARC_TALLY_OWN_ROWS &&
        ARC_TALLY_CLASS_ANY != fact[ARC_TALLY_CLASS]) {
        return arc_tally_count(tally,
                               (uint32_t[ARC_TALLY_FACTS]){fact[ARC_TALLY_COLLECTIVE],
                                                           fact[ARC_TALLY_OUTCOME],
                                                           ARC_TALLY_CLASS_ANY},
                               bytes);
    }
    if (0 == row->calls) {
        memcpy(row->fact, fact, sizeof row->fact);
        row->awaited = UINT32_MAX;
        ++tally->used;
    }
    row->calls += 1;
    row->bytes += bytes;
    return row;
}

/* ---- the report ---- */

static const char *outcome_text(const arc_tally_about_t *about, size_t outcome)
{
    return outcome < ARC_TALLY_PASSED
               ? about->algorithms[outcome]
               : arc_reason_text((arc_reason_t) (outcome - ARC_TALLY_PASSED));
}

bool arc_tally_print(FILE *stream, const arc_tally_about_t *about, unsigned collective,
                     const arc_tally_t *tally)
{
    uint64_t calls[ARC_TALLY_OUTCOMES] = {0};
    uint64_t bytes[ARC_TALLY_OUTCOMES] = {0};
    bool has_calls = about->wanted && 0 == collective;

    for (const arc_tally_row_t *row = tally->row; row < tally->row + ARC_TALLY_ROWS; ++row) {
        const uint32_t outcome = row->fact[ARC_TALLY_OUTCOME];
        if (0 != row->calls && collective == row->fact[ARC_TALLY_COLLECTIVE]) {
            calls[outcome] += row->calls;
            bytes[outcome] += row->bytes;
            has_calls |= ARC_TALLY_PASSED + ARC_REASON_OFF != outcome &&
                         ARC_TALLY_PASSED + ARC_REASON_ABSENT != outcome;
        }
    }
    if (NULL == stream || !has_calls) {
        return has_calls;
    }
    fprintf(stream, "coll_%s: %s calls of rank 0\n  %-6s  %-52s %12s %16s\n", about->component,
            about->collective(collective), "", "algorithm, or why passed down", "calls", "bytes");
    for (size_t outcome = 0; outcome < ARC_TALLY_OUTCOMES; ++outcome) {
        const bool served = outcome < ARC_TALLY_PASSED;
        if (served ? outcome < about->algorithm_count : 0 != calls[outcome]) {
            fprintf(stream, "  %-6s  %-52s %12" PRIu64 " %16" PRIu64 "\n",
                    served ? "served" : "passed", outcome_text(about, outcome), calls[outcome],
                    bytes[outcome]);
        }
    }
    fflush(stream);
    return true;
}

/* ---- files ---- */

typedef struct writer {
    FILE *file;
    bool json;
    unsigned labels; /* of this row, so far */
} writer_t;

static void begin_label(writer_t *writer, const char *name)
{
    const char *quote = writer->json ? "\"" : "";

    fprintf(writer->file, "%s%s%s%s%s", 0 == writer->labels++ ? "" : ",", quote, name, quote,
            writer->json ? ":" : "=");
}

/* Both formats have the same escapes for the two characters; and names have no others. */
static void put_text(writer_t *writer, const char *name, const char *text)
{
    begin_label(writer, name);
    putc('"', writer->file);
    for (; '\0' != *text; ++text) {
        if ('"' == *text || '\\' == *text) {
            putc('\\', writer->file);
        }
        putc(' ' <= *text && *text <= '~' ? *text : '_', writer->file);
    }
    putc('"', writer->file);
}

static void put_number(writer_t *writer, const char *name, unsigned long number)
{
    const char *quote = writer->json ? "" : "\"";

    begin_label(writer, name);
    fprintf(writer->file, "%s%lu%s", quote, number, quote);
}

/* "4-16KB", "256KB-1MB" */
static void describe_class(unsigned class, char *text)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    enum { UNIT_BITS = 10 };
    const unsigned from = 2 * (class - 1); /* as powers of two */
    const unsigned to = from + 2;
    const bool same = from / UNIT_BITS == to / UNIT_BITS;

    if (0 == class || ARC_TALLY_CLASS_ANY == class) {
        (void) snprintf(text, TEXT_BYTES, 0 == class ? "0B" : "any");
    } else {
        (void) snprintf(text, TEXT_BYTES, "%u%s-%u%s", 1U << from % UNIT_BITS,
                        same ? "" : units[from / UNIT_BITS], 1U << to % UNIT_BITS,
                        units[to / UNIT_BITS]);
    }
}

/* Labels that NCCL's and RCCL's Inspector have, too, have their names there. */
static void put_labels(writer_t *writer, const arc_tally_about_t *about, const arc_tally_row_t *row)
{
    const uint32_t outcome = row->fact[ARC_TALLY_OUTCOME];
    const bool served = outcome < ARC_TALLY_PASSED;
    char size[TEXT_BYTES];

    writer->labels = 0;
    describe_class(row->fact[ARC_TALLY_CLASS], size);
    put_text(writer, "version", PACKAGE_VERSION);
    put_text(writer, "slurm_job_id", about->job);
    put_text(writer, "node", about->host);
    put_number(writer, "pid", about->process);
    put_number(writer, "rank", about->rank);
    put_text(writer, "component", about->component);
    put_text(writer, "collective", about->collective(row->fact[ARC_TALLY_COLLECTIVE]));
    if (0 != row->fact[ARC_TALLY_RANKS]) {
        put_number(writer, "nranks", row->fact[ARC_TALLY_RANKS]);
    }
    if (0 != row->fact[ARC_TALLY_NODES]) {
        put_number(writer, "n_nodes", row->fact[ARC_TALLY_NODES]);
    }
    put_text(writer, "message_size", size);
    put_text(writer, served ? "algo_proto" : "reason", outcome_text(about, outcome));
}

static const struct {
    const char *name;
    const char *type;
    const char *help;
    size_t offset;
    bool of_time; /* in nanoseconds; 0: not known */
} metrics[] = {
#define FIELD(_name) offsetof(arc_tally_row_t, _name)
    {"calls_total", "counter", "Calls of the rank, served (algo_proto) or passed down (reason).",
     FIELD(calls), false},
    {"call_bytes_total", "counter", "Bytes of these calls, all blocks of one together.",
     FIELD(bytes), false},
    {"call_seconds_total", "counter", "Time in these calls, if they are blocking ones.",
     FIELD(call_ns), true},
    {"late_seconds_total", "counter",
     "Of that time: until all ranks of the node had come, but for some microseconds.",
     FIELD(late_ns), true},
    {"message_seconds_total", "counter", "Of that time: waits for messages of other ranks.",
     FIELD(messages_ns), true},
    {"longest_wait_seconds", "gauge",
     "Longest time without a step forward in one of these calls that blocks, and for which rank of "
     "MPI_COMM_WORLD (peer), which may have waited, too.",
     FIELD(wait_ns), true},
#undef FIELD
};
enum { METRICS = sizeof metrics / sizeof metrics[0] };

/* Without floating point: a program may have its own decimal point, and traps. */
static bool value_of(const arc_tally_row_t *row, size_t metric, char *text)
{
    enum { NS = 1000000000 };
    uint64_t value = 0;

    memcpy(&value, (const char *) row + metrics[metric].offset, sizeof value);
    const bool of_time = metrics[metric].of_time;
    (void) snprintf(text, TEXT_BYTES, of_time ? "%" PRIu64 ".%09" PRIu64 : "%" PRIu64,
                    of_time ? value / NS : value, value % NS);
    return 0 != row->calls && (!of_time || 0 != value);
}

static void put_peer(writer_t *writer, const arc_tally_row_t *row, size_t metric)
{
    if (offsetof(arc_tally_row_t, wait_ns) == metrics[metric].offset &&
        UINT32_MAX != row->awaited) {
        put_number(writer, "peer", row->awaited);
    }
}

static void write_prom(writer_t *writer, const arc_tally_about_t *about, const arc_tally_t *tally)
{
    char value[TEXT_BYTES];

    for (size_t metric = 0; metric < METRICS; ++metric) {
        fprintf(writer->file, "# HELP arc_%s %s\n# TYPE arc_%s %s\n", metrics[metric].name,
                metrics[metric].help, metrics[metric].name, metrics[metric].type);
        for (size_t i = 0; i < ARC_TALLY_ROWS; ++i) {
            if (value_of(&tally->row[i], metric, value)) {
                fprintf(writer->file, "arc_%s{", metrics[metric].name);
                put_labels(writer, about, &tally->row[i]);
                put_peer(writer, &tally->row[i], metric);
                fprintf(writer->file, "} %s\n", value);
            }
        }
    }
}

static void write_json(writer_t *writer, const arc_tally_about_t *about, const arc_tally_t *tally)
{
    const char *before = "[";
    char value[TEXT_BYTES];

    for (size_t i = 0; i < ARC_TALLY_ROWS; ++i) {
        if (0 == tally->row[i].calls) {
            continue;
        }
        fprintf(writer->file, "%s{", before);
        before = ",\n ";
        put_labels(writer, about, &tally->row[i]);
        for (size_t metric = 0; metric < METRICS; ++metric) {
            if (value_of(&tally->row[i], metric, value)) {
                begin_label(writer, metrics[metric].name);
                fputs(value, writer->file);
                put_peer(writer, &tally->row[i], metric);
            }
        }
        putc('}', writer->file);
    }
    fputs(0 == tally->used ? "[]\n" : "]\n", writer->file);
}

void arc_tally_write(FILE *file, bool json, const arc_tally_about_t *about,
                     const arc_tally_t *tally)
{
    writer_t writer = {.file = file, .json = json};

    (json ? write_json : write_prom)(&writer, about, tally);
}
