#include "cmd/look/html.h"

#include <stdint.h>

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1a1a1a;--page:#fff;--soft:#5a5a5a;--line:#d0d0d0;--card:#f6f7f9;--mark:#0b5c94}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--page:#15171a;--soft:#a8a8a8;--line:#3a3d42;--card:#1f2227;"
    "--mark:#7cc0f0}}\n"
    "*{box-sizing:border-box}body{margin:0 auto;max-width:72rem;padding:1rem;background:var(--page);color:var(--ink);"
    "font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.6rem;margin:.5rem 0}h2{margin:2.2rem 0 .3rem;border-top:2px solid var(--line);padding-top:1rem}"
    "h3{margin:1.4rem 0 .3rem;font-size:1.05rem}p,li{max-width:46rem}\n"
    ".note{color:var(--soft)}nav a{margin-right:1rem}a{color:var(--mark)}\n"
    ".wide{overflow-x:auto;margin:.6rem 0}table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.3rem .7rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap;overflow-wrap:normal}"
    "th:first-child,td:first-child{text-align:left}th.words,td.words{text-align:left;white-space:normal;min-width:16rem}\n"
    "th button{font:inherit;font-weight:600;color:inherit;background:none;border:0;padding:0;cursor:pointer}"
    "th button::after{content:' \\2195';color:var(--soft)}\n"
    "pre{background:var(--card);padding:.7rem;overflow-x:auto;border-radius:6px;white-space:pre-wrap}"
    "figure{margin:1rem 0}figure img{display:block;width:100%;max-width:900px;height:auto;background:#fff;"
    "border:1px solid var(--line);border-radius:6px}figcaption{color:var(--soft);max-width:46rem}\n"
    "@media screen and (max-width:600px){th,td{padding:.25rem .35rem;font-size:.85rem}th.words,td.words{min-width:7rem}"
    "th:first-child,td:first-child{white-space:normal}"
    "h1{font-size:1.3rem}h2{font-size:1.15rem}figure{overflow-x:auto}figure img{min-width:38rem}}\n"
    "@media print{:root{--ink:#000;--page:#fff;--soft:#333;--line:#999;--card:#fff;--mark:#000}body{max-width:none;"
    "font-size:11pt}h2,h3,thead{break-after:avoid}figure,tr{break-inside:avoid}th button::after{content:''}nav{display:none}"
    "th,td{padding:.15rem .4rem;font-size:10pt}th:first-child,td:first-child{white-space:normal}"
    "th.words,td.words{min-width:8rem}}\n";

/* Sorts a table by the column whose head was pressed: by number where all its cells begin with one. */
static const char script[] =
    "document.querySelectorAll('table.sort th').forEach(function(h,c){\n"
    " var b=h.querySelector('button');if(!b)return;\n"
    " b.addEventListener('click',function(){\n"
    "  var t=h.closest('table'),k=Array.prototype.indexOf.call(h.parentNode.children,h);\n"
    "  var r=Array.prototype.slice.call(t.tBodies[0].rows),d=h.dataset.d==='1'?-1:1;h.dataset.d=d;\n"
    "  var v=function(x){return x.cells[k].textContent.trim()};\n"
    "  var n=r.every(function(x){return v(x)===''||!isNaN(parseFloat(v(x)))});\n"
    "  r.sort(function(x,y){return d*(n?(parseFloat(v(x))||0)-(parseFloat(v(y))||0):v(x).localeCompare(v(y)))});\n"
    "  r.forEach(function(x){t.tBodies[0].appendChild(x)})})});\n";

void html_begin(FILE *to, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>",
          to);
    html_text(to, title);
    fprintf(to, "</title>\n<style>\n%s</style></head>\n<body>\n<h1>", style);
    html_text(to, title);
    fputs("</h1>\n", to);
}

void html_end(FILE *to)
{
    fprintf(to, "<script>\n%s</script>\n</body></html>\n", script);
}

void html_text(FILE *to, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", to); break;
        case '<': fputs("&lt;", to); break;
        case '>': fputs("&gt;", to); break;
        case '"': fputs("&quot;", to); break;
        case '\'': fputs("&#39;", to); break;
        default: fputc(*text, to);
        }
}

void html_picture(FILE *to, const void *bytes, size_t size_bytes, const char *words)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = bytes;
    fputs("<figure><img alt=\"", to);
    html_text(to, words);
    fputs("\" src=\"data:image/svg+xml;base64,", to);
    for (size_t i = 0; i < size_bytes; i += 3) {
        size_t left = size_bytes - i;
        uint32_t v = (uint32_t)b[i] << 16 | (left > 1 ? (uint32_t)b[i + 1] << 8 : 0) | (left > 2 ? b[i + 2] : 0u);
        fputc(digits[v >> 18], to);
        fputc(digits[v >> 12 & 63], to);
        fputc(left > 1 ? digits[v >> 6 & 63] : '=', to);
        fputc(left > 2 ? digits[v & 63] : '=', to);
    }
    fputs("\"><figcaption>", to);
    html_text(to, words);
    fputs("</figcaption></figure>\n", to);
}
