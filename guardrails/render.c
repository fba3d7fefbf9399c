/* Theory of operation: prints a finding with its source line and a caret under the right
 * characters. The line is hostile: controls, bidi marks, broken UTF-8 and zero-width characters
 * are shown as escapes, tabs as blanks, wide characters by their display width, and a long line
 * is cut to a window around the caret. */
#include "render.h"

#include <string.h>

#include <utf8proc.h>

#define TAB_WIDTH 4
#define LINE_WIDTH 100  /* display columns of source that are shown at most */
#define LEFT_CONTEXT 40 /* of these, before the caret in a cut line */

#define RED "\033[1;31m"
#define YELLOW "\033[1;33m"
#define BLUE "\033[1;34m"
#define BOLD "\033[1m"
#define RESET "\033[0m"

static const char *
paint(const struct csb_sheet *sheet, const char *sequence)
{
    return sheet->color ? sequence : "";
}

/* One cell of the shown line: what is printed for a character, and how wide it is. */
static size_t
add_cell(struct csb_text *out, const char *bytes, size_t len, size_t *ret_used)
{
    int32_t character = csb_utf8_next(bytes, len, ret_used);
    size_t before = out->len;
    if (character == '\t') {
        csb_text_repeat(out, ' ', TAB_WIDTH);
        return TAB_WIDTH;
    }
    if (character < 0 || csb_char_is_hostile(character)) {
        csb_text_escape(out, bytes, *ret_used);
        return out->len - before;
    }
    csb_text_add(out, bytes, *ret_used);
    return (size_t)utf8proc_charwidth(character);
}

struct window {
    const char *line;
    size_t len;
    size_t from; /* byte offsets in the line: the marked part */
    size_t to;
    size_t begin; /* the shown part */
    size_t stop;
};

/* Display width of line[from, to). */
static size_t
width_of(const struct window *window, size_t from, size_t to)
{
    struct csb_text scratch = {0};
    size_t width = 0;
    while (from < to) {
        size_t used;
        width += add_cell(&scratch, window->line + from, window->len - from, &used);
        from += used;
        scratch.len = 0;
    }
    csb_text_done(&scratch);
    return width;
}

/* Byte offset after as many characters from `at` as fit into `room` columns. */
static size_t
fit(const struct window *window, size_t at, size_t room)
{
    struct csb_text scratch = {0};
    size_t width = 0;
    while (at < window->len) {
        size_t used;
        width += add_cell(&scratch, window->line + at, window->len - at, &used);
        scratch.len = 0;
        if (width > room) {
            break;
        }
        at += used;
    }
    csb_text_done(&scratch);
    return at;
}

/* Choose what part of a long line is shown, on character boundaries. */
static void
choose_window(struct window *window)
{
    window->begin = 0;
    window->stop = fit(window, 0, LINE_WIDTH);
    if (window->stop < window->len && window->from > LEFT_CONTEXT) {
        window->begin = window->from;
        for (int i = 0; i < LEFT_CONTEXT && window->begin > 0; i++) {
            do {
                window->begin--;
            } while (window->begin > 0 &&
                     ((unsigned char)window->line[window->begin] & 0xc0) == 0x80);
        }
        window->stop = fit(window, window->begin, LINE_WIDTH);
        /* Wide cells on the left may leave no room for the marked place itself. */
        if (window->stop <= window->from) {
            window->begin = window->from;
            window->stop = fit(window, window->begin, LINE_WIDTH);
        }
    }
    window->to = window->to < window->stop ? window->to : window->stop;
}

static void
add_gutter(struct csb_text *out, const struct csb_sheet *sheet, uint32_t line)
{
    csb_text_puts(out, paint(sheet, BLUE));
    if (line > 0) {
        csb_text_printf(out, "%*u |", sheet->number_width, line);
    } else {
        csb_text_printf(out, "%*s |", sheet->number_width, "");
    }
    csb_text_puts(out, paint(sheet, RESET));
}

static void
add_line(struct csb_text *out, const struct window *window)
{
    size_t at = window->begin;
    if (window->len > 0) {
        csb_text_puts(out, window->begin > 0 ? " ..." : " ");
    }
    while (at < window->stop) {
        size_t used;
        (void)add_cell(out, window->line + at, window->len - at, &used);
        at += used;
    }
    csb_text_puts(out, window->stop < window->len ? "...\n" : "\n");
}

/* A place of the source and what is said about it. */
struct mark {
    uint32_t line;
    size_t start;
    size_t end;
    char sign;
    const char *label;
    const char *shade;
};

static void
add_carets(struct csb_text *out, const struct csb_sheet *sheet,
           const struct window *window, const struct mark *mark)
{
    size_t before = width_of(window, window->begin, window->from);
    size_t marked = width_of(window, window->from, window->to);
    csb_text_repeat(out, ' ', before + (window->begin > 0 ? 4 : 1));
    csb_text_puts(out, paint(sheet, mark->shade));
    csb_text_repeat(out, mark->sign, marked == 0 ? 1 : marked);
    if (mark->label != NULL && mark->label[0] != '\0') {
        csb_text_puts(out, " ");
        csb_text_puts(out, mark->label);
    }
    csb_text_puts(out, paint(sheet, RESET));
    csb_text_puts(out, "\n");
}

static void
add_mark(struct csb_text *out, const struct csb_sheet *sheet, const struct mark *mark)
{
    struct window window;
    size_t start;
    window.line = csb_source_line(sheet->source, mark->line, &window.len);
    start = (size_t)(window.line - sheet->source->text);
    window.from = mark->start < start ? 0 : mark->start - start;
    window.from = window.from > window.len ? window.len : window.from;
    window.to = mark->end < start ? 0 : mark->end - start;
    window.to = window.to > window.len ? window.len : window.to;
    window.to = window.to < window.from ? window.from : window.to;
    choose_window(&window);
    add_gutter(out, sheet, mark->line);
    add_line(out, &window);
    add_gutter(out, sheet, 0);
    add_carets(out, sheet, &window, mark);
}

/* Both places in the order of the source, with dots for what lies between them. */
static void
add_excerpt(struct csb_text *out, const struct csb_sheet *sheet,
            const struct csb_view *view, const char *shade)
{
    struct mark first = {view->line, view->start, view->end, '^', view->label, shade};
    struct mark second = {view->second_line, view->second_start,
                          view->second_end,  '-',
                          view->second,      BLUE};
    bool two = view->second != NULL && view->second[0] != '\0' && view->second_line > 0;
    add_gutter(out, sheet, 0);
    csb_text_puts(out, "\n");
    if (two && second.line > first.line) {
        struct mark swap = first;
        first = second;
        second = swap;
    }
    if (two) {
        add_mark(out, sheet, &second);
        if (first.line > second.line + 1) {
            csb_text_puts(out, "...\n");
        }
    }
    add_mark(out, sheet, &first);
}

static void
add_remark(struct csb_text *out, const struct csb_sheet *sheet, const char *kind,
           const char *text)
{
    if (text != NULL && text[0] != '\0') {
        csb_text_printf(out, "%s%*s =%s %s%s%s: ", paint(sheet, BLUE),
                        sheet->number_width, "", paint(sheet, RESET),
                        paint(sheet, BOLD), kind, paint(sheet, RESET));
        csb_text_puts(out, text);
        csb_text_puts(out, "\n");
    }
}

void
csb_render_one(struct csb_text *out, const struct csb_sheet *sheet,
               const struct csb_view *view)
{
    const char *shade = strcmp(view->severity, "error") == 0 ? RED : YELLOW;
    bool has_remark = (view->help != NULL && view->help[0] != '\0') ||
                      (view->note != NULL && view->note[0] != '\0');
    csb_text_printf(out, "%s%s[%s]%s%s: ", paint(sheet, shade), view->severity,
                    view->code, paint(sheet, RESET), paint(sheet, BOLD));
    csb_text_puts(out, view->message == NULL ? "" : view->message);
    csb_text_printf(out, "%s\n%s%*s-->%s ", paint(sheet, RESET), paint(sheet, BLUE),
                    sheet->number_width, "", paint(sheet, RESET));
    csb_text_escape(out, sheet->filename, sheet->filename_len);
    if (view->line > 0) {
        csb_text_printf(out, ":%u:%u\n", view->line, view->column);
        add_excerpt(out, sheet, view, shade);
        if (has_remark) {
            add_gutter(out, sheet, 0);
            csb_text_puts(out, "\n");
        }
    } else {
        csb_text_puts(out, "\n");
    }
    add_remark(out, sheet, "help", view->help);
    add_remark(out, sheet, "note", view->note);
}
