#include "report/progress.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

static const int64_t second_ns = 1000000000;
/* With a shorter interval the line flickers. */
static const int64_t redraw_ns = 100000000;
/* A log file needs few lines. */
static const int64_t plain_line_ns = 5000000000;
/* Rates over one or two windows follow changes, such as the end of compiling, without jumps. */
static const int64_t rate_window_ns = 5000000000;

enum { LINE_BYTES = 512, DEFAULT_COLUMNS = 80, MOST_FIELDS = 8 };

typedef struct checkpoint {
    int64_t now_ns;
    uint64_t done;
} checkpoint;

struct progress {
    int fd;
    bool terminal;
    bool gone;  /* a write failed; nothing more is written */
    bool drawn; /* the line is on the terminal */
    int64_t shown_ns;
    char stage[32];
    checkpoint older, newer; /* starts of the last two windows */
    char line[LINE_BYTES];
};

/* A field of a line. If the terminal is narrow, fields of the highest rank are left out first. */
typedef struct field {
    int rank;
    char text[64];
} field;

static bool is_terminal(int fd)
{
    const char *kind = getenv("TERM");
    return isatty(fd) && kind && strcmp(kind, "dumb") != 0;
}

progress *progress_new(int fd, bool quiet)
{
    progress *p = quiet ? NULL : calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->fd = fd;
    p->terminal = is_terminal(fd);
    return p;
}

static void put(progress *p, const char *bytes, size_t size_bytes)
{
    while (size_bytes > 0 && !p->gone) {
        ssize_t n = write(p->fd, bytes, size_bytes);
        if (n < 0 && errno == EINTR)
            continue;
        /* If the terminal takes no output at the moment, the line is not shown. */
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n <= 0) {
            p->gone = true;
            return;
        }
        bytes += n;
        size_bytes -= (size_t)n;
    }
}

static size_t columns(const progress *p)
{
    struct winsize size;
    if (ioctl(p->fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return DEFAULT_COLUMNS;
}

static void start_stage(progress *p, const progress_state *s)
{
    snprintf(p->stage, sizeof p->stage, "%s", s->stage);
    p->older = p->newer = (checkpoint){s->now_ns, s->done};
    p->shown_ns = s->now_ns;
}

/* Returns the finished items per second; 0 before the first is finished. */
static double find_rate(progress *p, const progress_state *s)
{
    if (s->now_ns - p->newer.now_ns >= rate_window_ns) {
        p->older = p->newer;
        p->newer = (checkpoint){s->now_ns, s->done};
    }
    int64_t passed_ns = s->now_ns - p->older.now_ns;
    if (passed_ns <= 0 || s->done <= p->older.done)
        return 0;
    return (double)(s->done - p->older.done) * (double)second_ns / (double)passed_ns;
}

__attribute__((format(printf, 4, 5))) static void add(field *fields, size_t *count, int rank,
                                                      const char *format, ...)
{
    field *f = &fields[(*count)++];
    f->rank = rank;
    va_list args;
    va_start(args, format);
    vsnprintf(f->text, sizeof f->text, format, args);
    va_end(args);
}

/* Returns the time until the stage ends at this rate, or until its deadline if that is earlier; 0
 * if the time is unknown or over. */
static double seconds_left(const progress_state *s, double rate)
{
    if (s->until_end_s < 0)
        return 0;
    double left_s = rate > 0 && s->total > s->done ? (double)(s->total - s->done) / rate : 0;
    return s->until_end_s > 0 && s->until_end_s < left_s ? s->until_end_s : left_s;
}

static size_t build_fields(progress *p, const progress_state *s, field *fields)
{
    size_t count = 0;
    char a[UNITS_BYTES], b[UNITS_BYTES];
    double rate = find_rate(p, s), left_s = seconds_left(s, rate);
    if (s->total)
        add(fields, &count, 0, "%s %s/%s", p->stage, units_count(s->done, a),
            units_count(s->total, b));
    else
        add(fields, &count, 0, "%s %s", p->stage, units_count(s->done, a));
    if (rate > 0)
        add(fields, &count, 4, "%.*f/s", rate < 10 ? 1 : 0, rate);
    if (left_s > 0)
        add(fields, &count, 2, "%s left", units_duration(left_s, a));
    if (s->failed)
        add(fields, &count, 5, "%s failed", units_count(s->failed, a));
    if (s->best_ns)
        add(fields, &count, 1, "best %s", units_time(s->best_ns, a));
    if (s->best_rate > 0)
        add(fields, &count, 6, "%s %s", units_rate(s->best_rate, a), s->unit);
    if (s->ceiling_fraction > 0)
        add(fields, &count, 3, "%s of ceiling", units_percent(s->ceiling_fraction, a));
    return count;
}

static size_t joined_length(const field *fields, size_t count, int highest)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        if (fields[i].rank <= highest)
            length += strlen(fields[i].text) + (length ? 2 : 0);
    return length;
}

/* Joins the fields into p->line. Leaves out fields until the line fits into `room` columns. */
static void build_line(progress *p, const progress_state *s, size_t room)
{
    field fields[MOST_FIELDS];
    size_t count = build_fields(p, s, fields), used = 0;
    int highest = MOST_FIELDS;
    while (highest > 0 && joined_length(fields, count, highest) > room)
        highest--;
    if (room > sizeof p->line - 1)
        room = sizeof p->line - 1;
    for (size_t i = 0; i < count && used < room; i++)
        if (fields[i].rank <= highest)
            used += (size_t)snprintf(p->line + used, room + 1 - used, "%s%s", used ? "  " : "",
                                     fields[i].text);
}

/* Draws the line with one write, so that a half drawn line is never visible. */
static void draw(progress *p)
{
    char bytes[LINE_BYTES + 16];
    int length = snprintf(bytes, sizeof bytes, p->terminal ? "\r%s\033[K" : "%s\n", p->line);
    put(p, bytes, (size_t)length);
    p->drawn = p->terminal;
}

void progress_update(progress *p, const progress_state *state)
{
    if (!p || p->gone)
        return;
    if (strncmp(p->stage, state->stage, sizeof p->stage - 1) != 0)
        start_stage(p, state);
    int64_t passed_ns = state->now_ns - p->shown_ns;
    bool due = p->terminal ? !p->drawn || passed_ns >= redraw_ns : passed_ns >= plain_line_ns;
    if (!due)
        return;
    p->shown_ns = state->now_ns;
    /* The last column stays free, because some terminals wrap after it. */
    build_line(p, state, p->terminal ? columns(p) - 1 : LINE_BYTES);
    char line[LINE_BYTES];
    plain_text_escape(p->line, line, sizeof line);
    memcpy(p->line, line, sizeof line);
    draw(p);
}

void progress_clear(progress *p)
{
    if (!p || !p->drawn)
        return;
    static const char erase[] = "\r\033[K";
    put(p, erase, sizeof erase - 1);
    p->drawn = false;
}

void progress_free(progress *p)
{
    progress_clear(p);
    free(p);
}
