#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/array.h"
#include "base/memory.h"
#include "month/periods.h"
#include "publish/page.h"
#include "publish/pdf.h"
#include "render/render_explain.h"

struct page_names {
    UT_hash_handle hh;
    char *to;
    char path[];
};

/* --- paths -------------------------------------------------------------------- */

/* Longer names end with a digest, so that an ending fits a file's name of 255 bytes. */
#define NAME_MAX_BYTES 100

static bool is_plain (char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static uint64_t digest_of (const char *name) /* FNV-1a */
{
    uint64_t digest = UINT64_C (14695981039346656037);

    for (const char *c = name; *c; c++)
        digest = (digest ^ (unsigned char)*c) * UINT64_C (1099511628211);
    return digest;
}

void page_path_name (buffer_t *out, const char *name)
{
    size_t begin = out->length;

    for (const char *c = name; *c && out->length - begin < NAME_MAX_BYTES;) {
        size_t room = NAME_MAX_BYTES - (out->length - begin), run = 0;
        while (run < room
               && (is_plain (c[run]) || (c[run] == '.' && c + run != name)))
            run++;
        buffer_add (out, c, run);
        c += run;
        if (run < room && *c)
            buffer_printf (out, "=%02X", (unsigned char)*c++);
    }
    if (out->length - begin >= NAME_MAX_BYTES)
        buffer_printf (out, "=%016llx", (unsigned long long)digest_of (name));
}

char *page_path_team (const char *team, const char *month)
{
    buffer_t path = BUFFER_INIT;

    buffer_add_text (&path, "team/");
    page_path_name (&path, team);
    buffer_add_char (&path, '/');
    buffer_add_text (&path, month ? month : "index");
    return buffer_take (&path);
}

char *page_path_part (const char *team, const char *month, const char *kind,
                      const char *name)
{
    buffer_t path = BUFFER_INIT;

    buffer_add_text (&path, "team/");
    page_path_name (&path, team);
    buffer_add_char (&path, '/');
    buffer_add_text (&path, month);
    buffer_add_char (&path, '-');
    buffer_add_text (&path, kind);
    buffer_add_char (&path, '-');
    page_path_name (&path, name);
    return buffer_take (&path);
}

char *page_path_pool (const char *pool)
{
    buffer_t path = BUFFER_INIT;

    buffer_add_text (&path, "pool/");
    page_path_name (&path, pool);
    return buffer_take (&path);
}

char *page_path_month (const char *month)
{
    return xasprintf ("month/%s", month);
}

char *page_path_waste (const char *month)
{
    return xasprintf ("month/%s-waste", month);
}

char *page_path_amounts (const char *month)
{
    return xasprintf ("month/%s-amounts", month);
}

char *page_path_results (const char *team, const char *month)
{
    GL_AUTOFREE char *path
        = team ? page_path_team (team, month) : page_path_month (month);

    return xasprintf ("%s-results", path);
}

char *page_path_decisions (const char *month)
{
    return xasprintf ("month/%s-decisions", month);
}

/* The length of the directories that both are in. */
static size_t same_directories (const char *a, const char *b)
{
    size_t same = 0;

    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            same = i + 1;
    return same;
}

/* From one page to another, or to a file where `ending` says so. */
static void add_href (buffer_t *out, const char *from, const char *to,
                      const char *ending)
{
    size_t same = same_directories (from, to);

    for (const char *slash = strchr (from + same, '/'); slash;
         slash = strchr (slash + 1, '/'))
        buffer_add_text (out, "../");
    buffer_add_text (out, to + same);
    buffer_add_text (out, ending);
}

/* --- what there is -------------------------------------------------------------- */

const char *page_user (const page_site_t *site, const char *user,
                       gl_error_t *error)
{
    return site->users && strcmp (user, key_info (KEY_USER)->absent) != 0
               ? pseudonyms_of (site->users, user, error)
               : user;
}

/* NULL: nothing is known of it. */
static const char *known_as (const struct page_names *names, const char *path)
{
    struct page_names *known;

    HASH_FIND_STR (names, path, known);
    return known ? known->to : NULL;
}

static void add_name (struct page_names **names, const char *path,
                      const char *to)
{
    struct page_names *known;
    size_t length = strlen (path);

    if (known_as (*names, path))
        return;
    known = xcalloc (1, sizeof (*known) + length + 1);
    memcpy (known->path, path, length + 1);
    known->to = xstrdup (to);
    HASH_ADD_STR (*names, path, known);
}

void page_know (page_site_t *site, const char *path, const char *to)
{
    add_name (&site->known, path, to);
}

void page_know_job (page_site_t *site, const char *job, const char *path)
{
    GL_AUTOFREE char *to = xasprintf ("%s.html", path);

    add_name (&site->jobs, job, to);
    add_name (&site->known, path, to);
}

static void forget_names (struct page_names **names)
{
    struct page_names *known, *next;

    HASH_ITER (hh, *names, known, next)
    {
        HASH_DEL (*names, known);
        free (known->to);
        free (known);
    }
}

void page_forget (page_site_t *site)
{
    forget_names (&site->known);
    forget_names (&site->jobs);
}

/* --- where cells lead ----------------------------------------------------------- */

struct place {
    const page_site_t *site;
    const page_t *page;
    const report_t *report; /* whose columns these are */
    size_t *lead;           /* of each column: into leads[], or behind it */
};

/* The cell of a column of that name; NULL: there is none, or it is empty. */
static const char *cell_of (const report_t *report, size_t row,
                            const char *name)
{
    for (size_t i = 0; i < report->column_count; i++)
        if (!strcmp (report->column[i].name, name))
            return report_cell (report, row, i);
    return NULL;
}

static const char *month_of (const struct place *place, const report_t *report,
                             size_t row)
{
    const char *month = cell_of (report, row, "month");

    return month ? month : place->page->month;
}

static char *to_team (const struct place *place, const report_t *report,
                      size_t row, const char *text)
{
    const char *month = month_of (place, report, row);

    if (month && pages_has (place->site->pages, month, text))
        return page_path_team (text, month);
    return texts_have (pages_teams (place->site->pages), text)
               ? page_path_team (text, NULL)
               : NULL;
}

static bool is_month (const pages_t *pages, const char *text)
{
    size_t count;
    const summary_month_t *months = pages_months (pages, &count);

    return GL_ANY (months, count, it, !strcmp (it->name, text));
}

static char *to_month (const struct place *place, const report_t *report,
                       size_t row, const char *text)
{
    const char *team = cell_of (report, row, "team");

    if (!team)
        team = place->page->team;
    if (!is_month (place->site->pages, text))
        return NULL;
    if (!team)
        return page_path_month (text);
    return pages_has (place->site->pages, text, team)
               ? page_path_team (team, text)
               : NULL;
}

static char *to_pool (const struct place *place, const report_t *report,
                      size_t row, const char *text)
{
    (void)report;
    (void)row;
    return texts_have (pages_pools (place->site->pages), text)
               ? page_path_pool (text)
               : NULL;
}

/* Of the page's team, or of that of the row's job. */
static char *to_part (const struct place *place, const report_t *report,
                      size_t row, const char *kind, const char *text)
{
    const page_t *page = place->page;
    const char *team
        = page->team ? page->team : cell_of (report, row, "job_team");

    return team && page->month ? page_path_part (team, page->month, kind, text)
                               : NULL;
}

static char *to_user (const struct place *place, const report_t *report,
                      size_t row, const char *text)
{
    return to_part (place, report, row, "user", text);
}

static char *to_project (const struct place *place, const report_t *report,
                         size_t row, const char *text)
{
    return to_part (place, report, row, "project", text);
}

static char *to_job (const struct place *place, const report_t *report,
                     size_t row, const char *text)
{
    const char *cluster = cell_of (report, row, "job_cluster");
    GL_AUTOFREE char *name
        = cluster ? xasprintf ("%s/%s", cluster, text) : NULL;

    /* of a month's million jobs few have a page */
    if (!known_as (place->site->jobs, name ? name : text))
        return NULL;
    return to_part (place, report, row, "job", name ? name : text);
}

/* Rows of the month's page that the page of its waste explains. */
static bool is_waste (const char *section)
{
    return !strcmp (section, "waste") || !strcmp (section, "unknown")
           || !strcmp (section, "action");
}

/* The sections of a page whose first column is a name of anything. */
static char *to_named (const struct place *place, const report_t *report,
                       size_t row, const char *text)
{
    const char *section = cell_of (report, row, "section");
    const char *team = cell_of (report, row, "team");
    const char *pool = cell_of (report, row, "pool");

    if (section && !strcmp (section, "users"))
        return to_part (place, report, row, "user", text);
    if (section && !strcmp (section, "projects"))
        return to_part (place, report, row, "project", text);
    if (section && place->page->team)
        return !strcmp (section, "waste") || !strcmp (section, "not_counted")
                   ? to_part (place, report, row, "waste", text)
                   : NULL;
    if (section && !strcmp (section, "decision") && place->page->decisions)
        return xstrdup (place->page->decisions);
    if (section && place->page->month && is_waste (section))
        return page_path_waste (place->page->month);
    if (pool && !team && place->page->month) /* how its cost was recovered */
        return xasprintf ("month/%s-chargeback", place->page->month);
    return team   ? to_team (place, report, row, team)
           : pool ? to_pool (place, report, row, pool)
                  : NULL;
}

static const struct {
    const char *column;
    char *(*to) (const struct place *place, const report_t *report, size_t row,
                 const char *text);
} leads[] = {
    {"team", to_team},     {"month", to_month},     {"pool", to_pool},
    {"user", to_user},     {"project", to_project}, {"job", to_job},
    {"job_team", to_team}, {"job_user", to_user},   {"name", to_named},
};

/* Who sees this page may see that one, too. */
static bool is_open (const struct place *place, const char *path)
{
    GL_AUTOFREE char *own = NULL;

    if (!place->site->restricted || !place->page->team)
        return true;
    own = page_path_team (place->page->team, "");
    return strncmp (path, own, strlen (own)) == 0;
}

/* Users, projects and jobs: those that are known have a page. */
static bool is_part (const char *path)
{
    const char *slash = strrchr (path, '/');

    return slash && strchr (path, '/') != slash && strlen (slash) > MONTH_SIZE;
}

/* Once for a report: most cells lead nowhere. */
static void find_leads (struct place *place, const report_t *report)
{
    place->report = report;
    place->lead = xreallocarray (place->lead, report->column_count + 1,
                                 sizeof (*place->lead));
    for (size_t i = 0; i < report->column_count; i++) {
        size_t *at = &place->lead[i];
        for (*at = 0; *at < GL_ARRAY_SIZE (leads); ++*at)
            if (!strcmp (leads[*at].column, report->column[i].name))
                break;
    }
}

static bool href (const void *arg, const report_t *report, size_t row,
                  size_t column, buffer_t *out)
{
    struct place *place = (struct place *)arg;
    const char *text = report_cell (report, row, column);
    GL_AUTOFREE char *path = NULL;
    const char *known;

    if (place->report != report)
        find_leads (place, report);
    if (!text || place->lead[column] == GL_ARRAY_SIZE (leads))
        return false;
    path = leads[place->lead[column]].to (place, report, row, text);
    if (!path || !strcmp (path, place->page->path) || !is_open (place, path))
        return false;
    known = is_part (path) ? known_as (place->site->known, path) : NULL;
    if (is_part (path) && !known)
        return false;
    add_href (out, place->page->path, known ? known : path,
              known ? "" : ".html");
    return true;
}

/* The page of a word of a list, with its ending; NULL: it has none. Yours to free. */
static char *page_of_word (const page_site_t *site, list_words_t is,
                           const char *word)
{
    GL_AUTOFREE char *path = NULL;

    switch (is) {
    case LIST_JOBS:
        return xstrdup (known_as (site->jobs, word));
    case LIST_POOLS:
        if (texts_have (pages_pools (site->pages), word))
            path = page_path_pool (word);
        break;
    case LIST_MONTHS:
        if (is_month (site->pages, word))
            path = page_path_month (word);
        break;
    case LIST_TEXTS:
        break;
    }
    return path ? xasprintf ("%s.html", path) : NULL;
}

static bool word_href (const void *arg, list_words_t is, const char *word,
                       buffer_t *out)
{
    const struct place *place = arg;
    GL_AUTOFREE char *path = page_of_word (place->site, is, word);

    if (!path || !is_open (place, path))
        return false;
    add_href (out, place->page->path, path, "");
    return true;
}

/* --- users ------------------------------------------------------------------------ */

/* Whether the cell is the name of a user. */
static bool is_user (const report_t *report, size_t row, size_t column)
{
    const char *name = report->column[column].name;

    return !strcmp (name, "user") || !strcmp (name, "job_user")
           || (!strcmp (name, "name")
               && text_same (cell_of (report, row, "section"), "users"));
}

static int hide_users (const page_site_t *site, report_t *report,
                       gl_error_t *error)
{
    for (size_t row = 0; row < report->row_count; row++)
        for (size_t column = 0; column < report->column_count; column++) {
            const char *text = report_cell (report, row, column);
            if (!text || !is_user (report, row, column))
                continue;
            text = page_user (site, text, error);
            if (!text)
                return -1;
            report_at_row (report, row);
            report_put_text (report, column, text);
        }
    return 0;
}

/* --- writing ------------------------------------------------------------------------ */

static int write_as (const page_site_t *site, const page_t *page,
                     const char *ending, const buffer_t *bytes,
                     gl_error_t *error)
{
    GL_AUTOFREE char *path = xasprintf ("%s%s", page->path, ending);

    return tree_write (site->tree, path, bytes->data, bytes->length, error);
}

#define TRAIL_MAX 5

/* The frame of a page, and the texts that it points to. */
struct framed {
    render_frame_t frame;
    render_link_t trail[TRAIL_MAX];
    render_link_t *near;
    struct place place;
    char *href[TRAIL_MAX];
    char **near_href;
    char *definitions;
};

static char *href_to (const page_t *page, const char *to, const char *ending)
{
    buffer_t out = BUFFER_INIT;

    add_href (&out, page->path, to, ending);
    return buffer_take (&out);
}

static void add_trail (struct framed *f, const char *text, char *to)
{
    f->href[f->frame.trail_count] = to;
    f->trail[f->frame.trail_count++] = (render_link_t){text, to};
}

/* The pages next to it, and its files: so many of the formats. */
static void add_near (struct framed *f, const page_t *page, size_t formats)
{
    static const struct {
        const char *text, *ending;
    } data[] = {{"JSON", ".json"}, {"CSV", ".csv"}, {"PDF", ".pdf"}};
    size_t count = page->near_count + formats + (page->file ? 1 : 0);
    const char *name = strrchr (page->path, '/');

    f->near = xcalloc (count, sizeof (*f->near));
    f->near_href = xcalloc (count, sizeof (*f->near_href));
    for (size_t i = 0; i < page->near_count; i++) {
        f->near_href[i] = href_to (page, page->near[i].href, ".html");
        f->near[i] = (render_link_t){page->near[i].text, f->near_href[i]};
    }
    for (size_t i = 0; i < formats; i++) {
        size_t at = page->near_count + i;
        f->near_href[at]
            = xasprintf ("%s%s", name ? name + 1 : page->path, data[i].ending);
        f->near[at] = (render_link_t){data[i].text, f->near_href[at]};
    }
    if (page->file) {
        f->near_href[count - 1] = href_to (page, page->file->href, "");
        f->near[count - 1]
            = (render_link_t){page->file->text, f->near_href[count - 1]};
    }
    f->frame.near = f->near;
    f->frame.near_count = count;
}

static bool has_pdf (const page_site_t *site, const page_t *page)
{
    return site->pdf && page->printed;
}

static void frame_page (struct framed *f, const page_site_t *site,
                        const page_t *page, bool csv)
{
    *f = (struct framed){.place = {.site = site, .page = page}};
    if (site->restricted && page->team) { /* a copy that its readers may see */
        GL_AUTOFREE char *own = page_path_team (page->team, "definitions");
        f->definitions = href_to (page, own, ".html");
    } else
        f->definitions = href_to (page, "definitions", ".html");
    f->frame = (render_frame_t){.site = site->site->issuer.name,
                                .logo = site->logo,
                                .colour = site->site->publish.colour,
                                .trail = f->trail,
                                .definitions = f->definitions,
                                .href = href,
                                .word = word_href,
                                .arg = &f->place};
    if (strcmp (page->path, "index") != 0 && is_open (&f->place, "index"))
        add_trail (f, "GPU chargeback", href_to (page, "index", ".html"));
    for (size_t i = 0; i < page->up_count; i++)
        add_trail (f, page->up[i].text,
                   href_to (page, page->up[i].href, ".html"));
    add_trail (f, page->title, NULL);
    add_near (f, page, has_pdf (site, page) ? 3 : csv ? 2 : 1);
}

static void frame_done (struct framed *f)
{
    for (size_t i = 0; i < f->frame.trail_count; i++)
        free (f->href[i]);
    for (size_t i = 0; i < f->frame.near_count; i++)
        free (f->near_href[i]);
    free (f->near_href);
    free (f->near);
    free (f->place.lead);
    free (f->definitions);
}

/* Before the page itself: if it is there, its PDF is. */
static int write_pdf (const page_site_t *site, const page_t *page,
                      const buffer_t *html, gl_error_t *error)
{
    GL_AUTOFREE char *path = xasprintf ("%s.html", page->path);
    GL_AUTOFREE char *pdf = xasprintf ("%s.pdf", page->path);
    BUFFER_AUTO bytes = BUFFER_INIT;
    int kept = 0;

    if (!site->fresh && tree_has (site->tree, path, html->data, html->length))
        kept = tree_keep (site->tree, pdf, error);
    if (kept)
        return kept < 0 ? -1 : 0;
    return pdf_make (html, pdf, &bytes, error) < 0
               ? -1
               : write_as (site, page, ".pdf", &bytes, error);
}

int page_write (const page_site_t *site, const page_t *page, report_t *report,
                gl_error_t *error)
{
    static const struct {
        render_format_t format;
        const char *ending;
    } formats[] = {
        {RENDER_CSV, ".csv"}, {RENDER_JSON, ".json"}, {RENDER_HTML, ".html"}};
    BUFFER_AUTO bytes = BUFFER_INIT;
    struct framed framed;
    int rc = 0;

    if (site->users && hide_users (site, report, error) < 0)
        return -1;
    frame_page (&framed, site, page, true);
    for (size_t i = 0; i < GL_ARRAY_SIZE (formats) && rc == 0; i++) {
        const render_options_t options = {.frame = &framed.frame};
        buffer_clear (&bytes);
        if (formats[i].format == RENDER_HTML) /* data has all columns */
            report_select_brief (report);
        render_report (report, formats[i].format, &options, &bytes);
        if (formats[i].format == RENDER_HTML && has_pdf (site, page))
            rc = write_pdf (site, page, &bytes, error);
        if (rc == 0)
            rc = write_as (site, page, formats[i].ending, &bytes, error);
    }
    frame_done (&framed);
    return rc;
}

int page_write_explanation (const page_site_t *site, const page_t *page,
                            const explain_t *explain, gl_error_t *error)
{
    BUFFER_AUTO bytes = BUFFER_INIT;
    struct framed framed;
    int rc;

    frame_page (&framed, site, page, false);
    render_explain_json (explain, &bytes);
    rc = write_as (site, page, ".json", &bytes, error);
    buffer_clear (&bytes);
    render_explain_html (explain, page->title, &framed.frame, &bytes);
    if (rc == 0)
        rc = write_as (site, page, ".html", &bytes, error);
    frame_done (&framed);
    return rc;
}
