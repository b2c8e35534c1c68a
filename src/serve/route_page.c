/* The page of `lathe serve`: files that hold nothing of a user. What the page shows it asks for with the token. */
#include "serve/page_files.h"
#include "serve/serve_routes.h"

#define PAGE_START LT_STR("index.html")

/* Content Security Policy Level 3. Scripts and styles are files of this server, or the ones whose hashes are named, so
 * that text of a model or a tool cannot become one. Pictures are fetched with the token: "blob:". Their bytes may also
 * stand in the text itself: "data:". */
#define PAGE_POLICY                                                                                      \
  "default-src 'none'; %.*s; img-src 'self' blob: data:; connect-src 'self'; font-src 'self'; base-uri " \
  "'none'; form-action 'none'; frame-ancestors 'none'"
#define PAGE_FOLDER_SOURCES LT_STR("script-src 'self'; style-src 'self'")

/* Fetch Metadata: no page asks, or one of this server. */
static bool page_has_no_foreign_opener(const lt_serve_request *r) {
  lt_str site = lt_http_call_header(r->call, "Sec-Fetch-Site");
  return lt_str_eqc(site, "none") || lt_str_eqc(site, "same-origin");
}

/* `sources`: of scripts and styles. The window of a page of another site that opens this one is cut off. For everybody
 * else that policy would only cost: the browser starts another process for it, which takes as long as the page. */
static void page_put_headers(lt_serve_request *r, const char *type, lt_str sources) {
  r->answer->content_type = type;
  lt_http_answer_header(r->answer, "Content-Security-Policy",
                        lt_arena_printf(r->arena, PAGE_POLICY, LT_STR_ARG(sources)));
  if (!page_has_no_foreign_opener(r)) {
    lt_http_answer_header(r->answer, "Cross-Origin-Opener-Policy", LT_STR("same-origin"));
  }
  lt_http_answer_header(r->answer, "Cross-Origin-Resource-Policy", LT_STR("same-origin"));
  lt_http_answer_header(r->answer, "Referrer-Policy", LT_STR("no-referrer"));
}

/* --- Embedded ----------------------------------------------------------------------------------------------------- */
static bool page_is_known(const lt_serve_request *r, lt_str etag) {
  return lt_str_find(lt_http_call_header(r->call, "If-None-Match"), etag, 0) != SIZE_MAX;
}

static lt_status page_put_embedded(lt_serve_request *r, const lt_page_file *file) {
  if (lt_str_find(lt_http_call_header(r->call, "Accept-Encoding"), LT_STR("gzip"), 0) == SIZE_MAX) {
    return lt_serve_request_refuse(r, 406, "encoding", "this is sent compressed only: add Accept-Encoding: gzip");
  }
  lt_str etag = lt_arena_printf(r->arena, "\"%s\"", file->hash);
  page_put_headers(r, file->type, lt_page_files_sources());
  lt_http_answer_header(r->answer, "Cache-Control", LT_STR("no-cache")); /* kept, and asked about each time */
  lt_http_answer_header(r->answer, "ETag", etag);
  lt_http_answer_header(r->answer, "Vary", LT_STR("Accept-Encoding, Sec-Fetch-Site"));
  if (page_is_known(r, etag)) {
    r->answer->status = 304;
    r->answer->content_type = NULL;
    return LT_OK;
  }
  lt_http_answer_header(r->answer, "Content-Encoding", LT_STR("gzip"));
  lt_buf_add(&r->answer->body, file->gzip);
  return LT_OK;
}

/* --- In a folder -------------------------------------------------------------------------------------------------- */
typedef struct page_reading {
  const char *folder;
  lt_str name;
  lt_buf *out;
  lt_err *err;
  lt_status status;
} page_reading;

static void page_read_on_thread(void *arg) {
  page_reading *reading = arg;
  reading->status = lt_page_files_read(reading->folder, reading->name, reading->out, reading->err);
}

/* LT_E_NOTFOUND: what the folder does not have is embedded, such as the bundles. */
static lt_status page_put_from_folder(lt_serve_request *r, lt_str name, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(text, LT_PAGE_FILE_BYTES);
  page_reading reading = {.folder = r->serve->page_folder, .name = name, .out = &text, .err = err};
  const char *type = lt_page_files_type(name);
  if (type == NULL) {
    return LT_E_NOTFOUND;
  }
  LT_TRY(lt_loop_offload(r->serve->session->loop, page_read_on_thread, &reading, err));
  LT_TRY(reading.status);
  page_put_headers(r, type, PAGE_FOLDER_SOURCES);
  lt_http_answer_header(r->answer, "Cache-Control", LT_STR("no-store"));
  lt_buf_add(&r->answer->body, lt_buf_view(&text));
  return LT_OK;
}

/* --- Both --------------------------------------------------------------------------------------------------------- */
static lt_status page_put_file(lt_serve_request *r, lt_str name, lt_err *err) LT_YIELDS {
  lt_page_file file;
  if (r->serve->page_folder != NULL) {
    LT_ERR_VAR(why);
    lt_status status = page_put_from_folder(r, name, &why);
    if (status != LT_E_NOTFOUND) {
      return status == LT_OK ? LT_OK : lt_err_copy(err, &why);
    }
  }
  return lt_page_files_find(name, &file) ? page_put_embedded(r, &file)
                                         : lt_fail(err, LT_E_NOTFOUND, "the page has no file of this name");
}

static lt_status route_get_page(lt_serve_request *r, lt_err *err) LT_YIELDS {
  return page_put_file(r, PAGE_START, err);
}

static lt_status route_get_page_file(lt_serve_request *r, lt_err *err) LT_YIELDS {
  return page_put_file(r, r->id, err);
}

/* --- The table ---------------------------------------------------------------------------------------------------- */
enum { PAGE_FLAGS = LT_SERVE_IS_PUBLIC | LT_SERVE_HAS_OWN_TYPE | LT_SERVE_IS_CACHED };

const lt_serve_route lt_route_page_rows[] = {
    {"GET", "/", "getPage", "The page for people, as HTML.", .flags = PAGE_FLAGS, .handle = route_get_page},
    {"GET", "/page/{id}", "getPageFile", "A file of the page.", .flags = PAGE_FLAGS, .handle = route_get_page_file},
    {NULL},
};
