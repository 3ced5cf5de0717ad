/* pages_docs.c - GET /docs: the API to read. One long page with a list of everything beside it, so
 * that the browser's own search finds whatever one looks for. */
#include "server/pages.h"

#include "base/error.h"
#include "base/str.h"
#include "ops/check.h"
#include "server/html.h"
#include "server/listing.h"

static const char docs_style[] =
    "<style>body{display:grid;grid-template-columns:16rem minmax(0,1fr)}"
    "nav{position:sticky;top:0;height:100vh;overflow-y:auto;padding:1.4rem 1.2rem;border-right:1px "
    "solid var(--line);background:var(--panel);font-size:.9rem}"
    "nav ul{list-style:none;margin:.1rem 0 .9rem;padding:0}nav li a{display:block;padding:.1rem "
    ".5rem;border-radius:5px;color:var(--soft);text-decoration:none}"
    "nav li a:hover{background:var(--tint);color:var(--ink)}"
    "nav strong{display:block;font-size:.75rem;text-transform:uppercase;letter-spacing:.07em;"
    "color:var(--ink);padding:0 .5rem}nav .brand{font-size:1.15rem;font-weight:650;"
    "text-decoration:none;display:block;padding:0 .5rem .9rem}"
    "main{padding:2.4rem clamp(1rem,4vw,3.5rem) 6rem;max-width:62rem}"
    "article{background:var(--panel);border:1px solid var(--line);border-radius:10px;"
    "padding:1.2rem "
    "1.4rem;margin:0 0 1.2rem}article>p{margin:.35rem 0 .7rem}"
    "h3 a{color:inherit;text-decoration:none}h3 a:hover{text-decoration:underline}"
    ".way{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:.86rem;"
    "overflow-wrap:anywhere;margin:.15rem 0}.verb{display:inline-block;min-width:3.6em;"
    "font-weight:700;margin-right:.5em}.GET{color:var(--get)}.POST{color:var(--post)}.PUT,.PATCH"
    "{color:var(--put)}.DELETE{color:var(--del)}"
    ".mark{display:inline-block;font-size:.75rem;padding:.05rem .5rem;border-radius:99px;"
    "background:var(--tint);color:var(--accent);margin-left:.5rem;vertical-align:.1em}"
    ".scroll{overflow-x:auto;margin:.9rem 0}table{border-collapse:collapse;width:100%;"
    "font-size:.92rem}th,td{text-align:left;vertical-align:top;padding:.4rem .7rem .4rem 0;"
    "border-bottom:1px solid var(--line)}th{font-size:.75rem;text-transform:uppercase;"
    "letter-spacing:.06em;color:var(--soft);font-weight:600}tr:last-child td{border-bottom:0}"
    "td:first-child{white-space:nowrap}.must{color:var(--del);font-size:.78rem;font-weight:600}"
    ".soft{color:var(--soft);font-size:.9rem}.soft a{text-decoration:none}.soft "
    "a:hover{text-decoration:underline}summary{cursor:pointer;color:var(--soft);font-size:"
    ".92rem}"
    "@media(max-width:60rem){body{display:block}nav{position:static;height:auto;max-height:16rem;"
    "border-right:0;border-bottom:1px solid var(--line)}}"
    "@media print{nav{display:none}body{display:block}}</style>\n</head>\n";

static const char intro[] =
    "<h1>The loci API</h1>\n<p class=\"lead\">Every operation takes one JSON object and answers "
    "one. "
    "It is the same from C, on the command line and over HTTP.</p>\n"
    "<pre tabindex=\"0\"><code>export LOCI_URL=http://127.0.0.1:7077\n"
    "export LOCI_TOKEN=…   # what `loci token create --name me` printed\n"
    "curl -H \"Authorization: Bearer $LOCI_TOKEN\" --json '{\"key\":\"city\",\"value\":\"Oslo\"}' "
    "\\\n"
    "     $LOCI_URL/v1/call/fact.write</code></pre>\n"
    "<p>Each operation is at <code>POST /v1/call/{operation}</code> with its arguments as the "
    "body; "
    "most also have a route of their own, where <code>GET</code> takes arguments in the query. "
    "Names "
    "that an operation does not know are errors. The tenant comes from the token, never from the "
    "request. For programs there is <a href=\"/openapi.json\">openapi.json</a>.</p>\n";

/* ---- Parameters and answers ---------------------------------------------------------------------
 */

static void put_code(lc_buf *out, const char *text)
{
    lc_html_raw(out, "<code>");
    lc_html_text(out, text);
    lc_html_raw(out, "</code>");
}

static void put_param(lc_buf *out, const lc_param *param)
{
    char takes[LC_DESCRIPTION_BYTES];

    lc_param_describe(param, takes);
    lc_html_raw(out, "<tr><td>");
    put_code(out, param->name);
    if ((param->flags & LC_PARAM_REQUIRED) != 0)
        lc_html_raw(out, " <span class=\"must\">required</span>");
    lc_html_raw(out, "</td><td>");
    lc_html_prose(out, param->help);
    lc_html_raw(out, "<div class=\"soft\">");
    lc_html_text(out, takes);
    if (param->default_text != NULL) {
        lc_html_raw(out, "; default ");
        put_code(out, param->default_text);
    }
    lc_html_raw(out, "</div></td></tr>\n");
}

static bool is_own(const lc_op *op, const lc_param *param)
{
    const lc_param *own = op->params;

    while (own != NULL && own->name != NULL && own != param)
        own++;
    return own == param;
}

static void put_params(lc_buf *out, const lc_op *op)
{
    const lc_param *param;
    size_t own_count = 0;
    const char *separator = "<p class=\"soft\">Also takes ";

    for (size_t i = 0; (param = lc_op_param(op, i)) != NULL; i++) {
        if (!is_own(op, param))
            continue;
        if (own_count++ == 0)
            lc_html_raw(out, "<div class=\"scroll\"><table>\n<thead><tr><th>Parameter</th>"
                             "<th>Meaning</th></tr></thead>\n<tbody>\n");
        put_param(out, param);
    }
    lc_html_raw(out, own_count > 0 ? "</tbody></table></div>\n" : "");
    for (size_t i = 0; (param = lc_op_param(op, i)) != NULL; i++) {
        if (is_own(op, param))
            continue;
        lc_html_raw(out, separator);
        lc_html_raw(out, "<a href=\"#shared\">");
        put_code(out, param->name);
        lc_html_raw(out, "</a>");
        separator = ", ";
    }
    lc_html_raw(out, separator[0] == ',' ? ".</p>\n" : "");
}

static void put_results(lc_buf *out, const lc_op *op)
{
    const lc_result *result = op->results;

    if (result == NULL || result->name == NULL)
        return;
    lc_html_raw(out, "<details><summary>Answer</summary>\n<div class=\"scroll\"><table>\n"
                     "<thead><tr><th>Member</th><th>Meaning</th></tr></thead>\n<tbody>\n");
    for (; result->name != NULL; result++) {
        lc_html_raw(out, "<tr><td>");
        put_code(out, result->name);
        lc_html_raw(out, "</td><td>");
        lc_html_prose(out, result->help);
        lc_buf_append_format(out, " <span class=\"soft\">%s</span></td></tr>\n",
                             lc_param_kind_name(result->kind));
    }
    lc_html_raw(out, "</tbody></table></div>\n</details>\n");
}

/* ---- Operations ---------------------------------------------------------------------------------
 */

static void put_way(lc_buf *out, loci_str method, const char *prefix, loci_str path)
{
    lc_buf_append_format(out, "<div class=\"way\"><span class=\"verb %.*s\">%.*s</span>",
                         LC_STR_ARG(method), LC_STR_ARG(method));
    lc_html_text(out, prefix);
    lc_html_str(out, path);
    lc_html_raw(out, "</div>\n");
}

/* As a shell wants it: inside single quotes, which end for each one in the text. */
static void put_example(lc_buf *out, const lc_op *op)
{
    if (op->example == NULL)
        return;
    lc_html_raw(out, "<pre tabindex=\"0\"><code>curl -H \"Authorization: Bearer $LOCI_TOKEN\" "
                     "$LOCI_URL/v1/call/");
    lc_html_text(out, op->name);
    lc_html_raw(out, " \\\n     --json '");
    for (const char *at = op->example; *at != '\0'; at++) {
        if (*at == '\'')
            lc_html_raw(out, "&#39;\\&#39;&#39;");
        else
            lc_html_str(out, (loci_str){at, 1});
    }
    lc_html_raw(out, "'</code></pre>\n");
}

static void put_op(lc_buf *out, const lc_op *op)
{
    loci_str method, path;

    lc_buf_append_format(out, "<article id=\"%s\">\n<h3><a href=\"#%s\">%s</a>", op->name, op->name,
                         op->name);
    lc_html_raw(out, (op->flags & LC_OP_MUTATES) != 0 ? "<span class=\"mark\">changes</span>" : "");
    lc_html_raw(out, (op->flags & (LC_OP_ADMIN | LC_OP_TENANT_ADMIN)) != 0
                         ? "<span class=\"mark\">admin</span>"
                         : "");
    lc_html_raw(out, "</h3>\n<p>");
    lc_html_prose(out, op->help);
    lc_html_raw(out, ".</p>\n");
    if (lc_listing_route(op, &method, &path))
        put_way(out, method, "", path);
    put_way(out, LC_STR("POST"), "/v1/call/", loci_str_of(op->name));
    put_params(out, op);
    put_example(out, op);
    put_results(out, op);
    lc_html_raw(out, "</article>\n");
}

static void put_noun(lc_buf *out, loci_str noun)
{
    const lc_op *op;

    lc_buf_append_format(out, "<h2 id=\"%.*s\">%.*s</h2>\n", LC_STR_ARG(noun), LC_STR_ARG(noun));
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        if (lc_str_eq(lc_listing_noun(op), noun))
            put_op(out, op);
    }
}

static void put_contents(lc_buf *out)
{
    const lc_op *op;

    lc_html_raw(out, "<nav aria-label=\"Contents\">\n<a class=\"brand\" href=\"/\">loci</a>\n");
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        loci_str noun = lc_listing_noun(op);

        if (!lc_listing_is_first_of_noun(i))
            continue;
        lc_buf_append_format(out, "<strong>%.*s</strong>\n<ul>\n", LC_STR_ARG(noun));
        for (size_t j = i; (op = lc_op_at(j)) != NULL; j++) {
            if (lc_str_eq(lc_listing_noun(op), noun))
                lc_buf_append_format(out, "<li><a href=\"#%s\">%s</a></li>\n", op->name, op->name);
        }
        lc_html_raw(out, "</ul>\n");
    }
    lc_html_raw(out, "<strong>More</strong>\n<ul>\n<li><a href=\"#batch\">batches</a></li>\n"
                     "<li><a href=\"#stream\">event stream</a></li>\n"
                     "<li><a href=\"#shared\">shared parameters</a></li>\n"
                     "<li><a href=\"#errors\">errors</a></li>\n"
                     "<li><a href=\"#daemon\">the daemon</a></li>\n</ul>\n</nav>\n");
}

/* ---- What is no operation -----------------------------------------------------------------------
 */

static const char batch_and_stream[] =
    "<h2 id=\"batch\">Batches</h2>\n<article>\n"
    "<div class=\"way\"><span class=\"verb POST\">POST</span>/v1/batch</div>\n"
    "<p>Up to 100 operations of one user as one transaction: all or nothing. A string argument "
    "<code>\"$0.id\"</code> stands for the member <code>id</code> of the first answer. The answer "
    "is "
    "<code>{\"answers\":[…]}</code>; on failure <code>index</code> names the call.</p>\n"
    "<pre tabindex=\"0\"><code>curl -H \"Authorization: Bearer $LOCI_TOKEN\" $LOCI_URL/v1/batch "
    "--json '{\"calls\":[\n  {\"op\":\"fact.write\",\"args\":{\"key\":\"city\",\"value\":\"Oslo\"}"
    "},\n"
    "  {\"op\":\"fact.get\",\"args\":{\"id\":\"$0.id\"}}]}'</code></pre>\n</article>\n"
    "<h2 id=\"stream\">Event stream</h2>\n<article>\n"
    "<div class=\"way\"><span class=\"verb GET\">GET</span>/v1/events</div>\n"
    "<p>With <code>Accept: text/event-stream</code> the connection stays open and says what "
    "happens. "
    "Of one user (<code>user_id</code>) each event comes once and in order; its <code>id</code> is "
    "its seq, and <code>Last-Event-ID</code> or <code>after</code> replays what came later. "
    "Without "
    "<code>user_id</code>, for callers not narrowed to one, it is the events of all users, live "
    "and "
    "without ids; <code>event: reset</code> says that some were missed: read the state again. "
    "<code>types</code> takes event types separated by commas, <code>heartbeat_ms</code> how often "
    "a silent stream says that it lives.</p>\n"
    "<pre tabindex=\"0\"><code>curl -N -H \"Authorization: Bearer $LOCI_TOKEN\" -H \"Accept: "
    "text/event-stream\" \\\n     \"$LOCI_URL/v1/events?user_id=default&amp;after=0\"</code></pre>"
    "\n"
    "</article>\n";

static void put_shared(lc_buf *out)
{
    static const lc_op takes_all = {.flags = LC_OP_USER | LC_OP_MUTATES};
    const lc_param *param;

    lc_html_raw(out,
                "<h2 id=\"shared\">Shared parameters</h2>\n<article>\n<p>Operations that act "
                "for a user take <code>user_id</code> and <code>persona_id</code>; those that "
                "change something take <code>request_id</code>, also as the header "
                "<code>Idempotency-Key</code>; those that do both take "
                "<code>expected_seq</code> too.</p>\n<div class=\"scroll\"><table>\n<tbody>\n");
    for (size_t i = 0; (param = lc_op_param(&takes_all, i)) != NULL; i++)
        put_param(out, param);
    lc_html_raw(out, "</tbody></table></div>\n</article>\n");
}

static void put_errors(lc_buf *out)
{
    const lc_status_row *rows = lc_status_rows();

    lc_html_raw(out, "<h2 id=\"errors\">Errors</h2>\n<article>\n<p>An error changed nothing. It is "
                     "<code>application/problem+json</code>: <code>code</code> is stable, "
                     "<code>detail</code> is for the person who wrote the request.</p>\n"
                     "<div class=\"scroll\"><table>\n<thead><tr><th>Code</th><th>HTTP</th>"
                     "<th>Meaning</th></tr></thead>\n<tbody>\n");
    for (size_t i = LOCI_OK + 1; i <= LOCI_EINTERNAL; i++) {
        lc_buf_append_format(out, "<tr><td><code>%s</code></td><td>%d</td><td>", rows[i].name,
                             rows[i].http);
        lc_html_prose(out, rows[i].help);
        lc_html_raw(out, "</td></tr>\n");
    }
    lc_html_raw(out, "</tbody></table></div>\n</article>\n");
}

static const char daemon_section[] =
    "<h2 id=\"daemon\">The daemon</h2>\n<article>\n<div class=\"scroll\"><table><tbody>\n"
    "<tr><td><code>GET /livez</code></td><td>200 as long as the process answers</td></tr>\n"
    "<tr><td><code>GET /readyz</code></td><td>200 when the store answers and the daemon is not "
    "ending, else 503</td></tr>\n"
    "<tr><td><code>GET /metrics</code></td><td>Figures in Prometheus' text format; needs the scope "
    "<code>admin</code></td></tr>\n"
    "<tr><td><code>GET /openapi.json</code></td><td>This API as OpenAPI 3.1</td></tr>\n"
    "</tbody></table></div>\n</article>\n";

void lc_page_docs(lc_buf *out)
{
    const lc_op *op;

    lc_html_begin(out, "loci: the API");
    lc_html_raw(out, docs_style);
    lc_html_raw(out, "<body>\n<a class=\"skip\" href=\"#content\">To the content</a>\n");
    put_contents(out);
    lc_html_raw(out, "<main id=\"content\">\n");
    lc_html_raw(out, intro);
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++) {
        if (lc_listing_is_first_of_noun(i))
            put_noun(out, lc_listing_noun(op));
    }
    lc_html_raw(out, batch_and_stream);
    put_shared(out);
    put_errors(out);
    lc_html_raw(out, daemon_section);
    lc_html_raw(out, "</main>\n");
    lc_html_end(out);
}
