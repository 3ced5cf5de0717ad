/* html.c - Pages load nothing, not even from here, and run nothing; the policy in their head says
 * so to the browser. */
#include "server/html.h"

#include "base/str.h"

void lc_html_raw(lc_buf *out, const char *html)
{
    lc_buf_append(out, loci_str_of(html));
}

static const char *escape_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static void put_byte(lc_buf *out, char c)
{
    const char *escape = escape_of(c);

    if (escape != NULL)
        lc_html_raw(out, escape);
    else
        lc_buf_append_byte(out, c);
}

void lc_html_str(lc_buf *out, loci_str text)
{
    for (size_t i = 0; i < text.len; i++)
        put_byte(out, text.ptr[i]);
}

void lc_html_text(lc_buf *out, const char *text)
{
    lc_html_str(out, loci_str_of(text));
}

void lc_html_prose(lc_buf *out, const char *text)
{
    bool is_code = false;

    for (const char *at = text; *at != '\0'; at++) {
        if (*at != '`') {
            put_byte(out, *at);
            continue;
        }
        is_code = !is_code;
        lc_html_raw(out, is_code ? "<code>" : "</code>");
    }
    if (is_code)
        lc_html_raw(out, "</code>");
}

static const char style[] =
    ":root{color-scheme:light dark;--bg:#fbfaf7;--panel:#fff;--ink:#1d2129;--soft:#5b6472;"
    "--line:#e3e0d8;--accent:#0b6b5d;--tint:#e6f2ef;--code:#f3f1eb;--get:#1f6feb;--post:#0b6b5d;"
    "--put:#9a5b00;--del:#b3261e}"
    "@media(prefers-color-scheme:dark){:root{--bg:#14171c;--panel:#1a1e25;--ink:#e6e8ec;"
    "--soft:#9aa4b2;--line:#2c323c;--accent:#5fd0bb;--tint:#17302c;--code:#20252d;--get:#79b0ff;"
    "--post:#5fd0bb;--put:#e9b15a;--del:#ff8a80}}"
    "*{box-sizing:border-box}html{scroll-padding-top:1rem;scroll-behavior:smooth}"
    "@media(prefers-reduced-motion:reduce){html{scroll-behavior:auto}}"
    "body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"
    "'Segoe UI',Roboto,'Helvetica Neue',sans-serif}"
    "a{color:var(--accent);text-underline-offset:.15em}"
    ":focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:3px}"
    "code,pre{font:.86em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',"
    "monospace}"
    "code{background:var(--code);padding:.1em .35em;border-radius:4px;overflow-wrap:anywhere}"
    "pre{background:var(--code);border:1px solid var(--line);border-radius:8px;padding:.8rem 1rem;"
    "overflow-x:auto;margin:.8rem 0}pre code{background:none;padding:0;font-size:1em;"
    "overflow-wrap:normal}"
    "h1,h2,h3{line-height:1.2;letter-spacing:-.01em}h1{font-size:2rem;margin:0 0 .4rem}"
    "h2{font-size:1.35rem;margin:3rem 0 1rem;padding-bottom:.4rem;border-bottom:1px solid "
    "var(--line)}h3{font-size:1.05rem;margin:0}"
    ".lead{font-size:1.12rem;color:var(--soft);margin:.2rem 0 1.4rem}"
    ".skip{position:absolute;left:-999px}.skip:focus{left:1rem;top:1rem;background:var(--panel);"
    "padding:.5rem 1rem}";

void lc_html_begin(lc_buf *out, const char *title)
{
    lc_html_raw(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    lc_html_text(out, title);
    lc_html_raw(out, "</title>\n<style>");
    lc_html_raw(out, style);
    lc_html_raw(out, "</style>\n");
}

void lc_html_end(lc_buf *out)
{
    lc_html_raw(out, "</body>\n</html>\n");
}
