/* pages.c - What can be seen without credentials: it says what loci is and how to talk to it, and
 * nothing of what it holds. Made anew for each request, in less time than looking it up would be
 * worth. */
#include "server/pages.h"

#include <stdio.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "ops/probe.h"
#include "server/html.h"
#include "server/openapi.h"
#include "server/parts.h"

#define PAGE_BYTES_MAX (16u * 1024 * 1024)

/* A store that takes longer than this for one row is not ready for more. It is asked on the loop,
 * which waits as long. */
#define PROBE_MS 250

typedef struct page {
    const char *path;
    const char *content_type;
    void (*write)(lc_buf *out);
} page;

static const page table[] = {
    {"/", "text/html; charset=utf-8", lc_page_home},
    {"/docs", "text/html; charset=utf-8", lc_page_docs},
    {"/openapi.json", "application/json", lc_page_openapi},
};

static const char home_style[] =
    "<style>main{max-width:44rem;margin:0 auto;padding:12vh 1.5rem 4rem}"
    ".mark{display:inline-block;font-weight:650;letter-spacing:.02em;color:var(--accent);"
    "background:var(--tint);padding:.15rem .6rem;border-radius:99px;font-size:.85rem}"
    "h1{font-size:3rem;margin:.8rem 0 .2rem}"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(17rem,1fr));gap:.8rem;"
    "padding:0;margin:1.6rem 0;list-style:none}"
    ".cards a{display:block;height:100%;padding:.9rem 1.1rem;background:var(--panel);border:1px "
    "solid var(--line);border-radius:10px;text-decoration:none;color:var(--ink)}"
    ".cards a:hover{border-color:var(--accent)}.cards b{display:block;color:var(--accent)}"
    ".cards span{font-size:.9rem;color:var(--soft)}.note{color:var(--soft);font-size:.92rem;"
    "border-left:3px solid var(--line);padding-left:.9rem;margin-top:2.4rem}</style>\n</head>\n";

static const char home_body[] =
    "<h1>loci</h1>\n<p class=\"lead\">The state engine for AI agents: what an agent knows, what "
    "is in "
    "its context window and what it is working on, in one log from which everything can be rebuilt "
    "and any past moment asked.</p>\n"
    "<ul class=\"cards\">\n"
    "<li><a href=\"/docs\"><b>API</b><span>Every operation, with parameters and examples</span></a>"
    "</li>\n"
    "<li><a href=\"/openapi.json\"><b>OpenAPI</b><span>The same for programs, version 3.1</span>"
    "</a>"
    "</li>\n"
    "<li><a href=\"/livez\"><b>Alive</b><span>Whether this daemon runs</span></a></li>\n"
    "<li><a href=\"/readyz\"><b>Ready</b><span>Whether it can serve requests</span></a></li>\n"
    "</ul>\n"
    "<p>Try it, with a token made by <code>loci token create</code>:</p>\n"
    "<pre tabindex=\"0\"><code>curl -H \"Authorization: Bearer $LOCI_TOKEN\" \\\n"
    "     --json '{\"key\":\"city\",\"value\":\"Oslo\"}' \\\n"
    "     $LOCI_URL/v1/call/fact.write</code></pre>\n"
    "<p class=\"note\">The dashboard is to come; it will live on this page.</p>\n";

void lc_page_home(lc_buf *out)
{
    lc_html_begin(out, "loci");
    lc_html_raw(out, home_style);
    lc_html_raw(out, "<body>\n<main>\n<span class=\"mark\">version ");
    lc_html_text(out, loci_version());
    lc_html_raw(out, "</span>\n");
    lc_html_raw(out, home_body);
    lc_html_raw(out, "</main>\n");
    lc_html_end(out);
}

void lc_page_openapi(lc_buf *out)
{
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_openapi_write(&w);
    lc_buf_append_byte(out, '\n');
}

static void answer_page(lc_http_request *request, const page *p)
{
    loci_error err;
    lc_buf out;

    lc_buf_init(&out, lc_http_arena(request)->heap, LOCI_MEM_REQUESTS, PAGE_BYTES_MAX);
    p->write(&out);
    if (lc_buf_status(&out, &err) == LOCI_OK)
        lc_http_answer(request, &(lc_http_reply){.status = 200,
                                                 .content_type = p->content_type,
                                                 .body = lc_buf_str(&out),
                                                 .cache_control = "no-cache"});
    else
        lc_served_fail(request, &err);
    lc_buf_clear(&out);
}

bool lc_pages_handle(lc_server *server, lc_http_request *request)
{
    lc_served *served = lc_http_state(request);
    loci_str method = lc_http_method(request);

    (void)server; /* Pages hold nothing of what it serves. */
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (!lc_str_is(lc_http_path(request), table[i].path))
            continue;
        if (served != NULL)
            served->route = loci_str_of(table[i].path);
        if (lc_str_is(method, "GET") || lc_str_is(method, "HEAD"))
            answer_page(request, &table[i]);
        else if (lc_str_is(method, "OPTIONS"))
            lc_http_answer(request, &(lc_http_reply){.status = 204, .allow = "GET, HEAD, OPTIONS"});
        else
            lc_served_refuse_method(request, "GET, HEAD, OPTIONS");
        return true;
    }
    return false;
}

/* ---- Probes ---------------------------------------------------------------------------------- */

void lc_pages_live(lc_http_request *request)
{
    char text[64];

    (void)snprintf(text, sizeof text, "{\"alive\":true,\"version\":\"%s\"}", loci_version());
    lc_served_json(request, loci_str_of(text));
}

void lc_pages_ready(lc_server *server, lc_http_request *request)
{
    loci_error why;
    loci_error err;

    if (atomic_load(&server->is_draining)) {
        (void)lc_fail(&err, LOCI_EUNAVAILABLE, "the daemon is ending");
        lc_served_fail(request, &err);
    } else if (lc_probe_store(server->engine, PROBE_MS, &why) != LOCI_OK) {
        /* What exactly is wrong is for the log: anybody may ask this. */
        (void)lc_fail(&err, LOCI_EUNAVAILABLE, "the store does not answer: %s",
                      loci_status_name(why.status));
        lc_served_fail(request, &err);
    } else {
        lc_served_json(request, LC_STR("{\"ready\":true}"));
    }
}
