load helpers

RESULTS="$BATS_TEST_DIRNAME/../../results"

# Makes report.html for all tests of this file.
page() {
    if [ ! -e "$BATS_FILE_TMPDIR/report.html" ]; then
        tool report vector_add transpose --results "$RESULTS" -o report.html
        succeeds
        cp report.html "$BATS_FILE_TMPDIR/"
    fi
    cp "$BATS_FILE_TMPDIR/report.html" .
}

@test "a report explains why the winner wins, and needs no other file" {
    page
    grep -q 'The counts do not explain the difference' report.html
    grep -q '<td>bank conflicts</td>' report.html
    grep -q 'autotune transpose.lua --set rows=8192' report.html
    # The page must explain its figures: intervals, shares, surprising bars, missing pictures.
    grep -q '95 % +-: half of its 95 % interval; of copy: the share of a copy of the same bytes' report.html
    grep -q 'Constraints make a total smaller' report.html
    # Each record must have a picture, even if only the fastest variants are stored.
    lacks 'No picture' report.html
    grep -q 'default, which the record keeps' report.html
    [ "$(grep -c '<figure>' report.html)" -ge "$(grep -c '<h2 id=' report.html)" ]
    grep -Eo '(src|href)="[^"]{0,20}' report.html >links.txt
    lacks -Ev '"(data:|#)' links.txt
    lacks 'url(' report.html
    grep -q '<td>algorithm</td><td>tile</td><td>registers</td>' report.html
    grep -q 'every sector is used whole, there are no bank conflicts' report.html
    # Cells with numbers must not wrap on any screen. The table scrolls instead.
    grep -q '^th,td{.*white-space:nowrap' report.html
    lacks -E '@media screen.*(white-space:normal|overflow-wrap:anywhere|display:grid)' report.html
    # Tags must be closed in order, ids must be unique, and links must lead to ids of the page.
    python3 - report.html <<'END'
import html.parser, sys
VOID = {"meta", "link", "br", "hr", "img", "input"}

class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links = [], [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        assert not attrs.get("src") or attrs["src"].startswith("data:"), attrs
        if "href" in attrs and not attrs["href"].startswith("data:"):
            assert attrs["href"][0] == "#", attrs
            self.links.append(attrs["href"][1:])
        if tag not in VOID and "svg" not in self.open:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if "svg" in self.open and tag != "svg":
            return
        assert self.open and self.open[-1] == tag, (tag, self.open, self.getpos())
        self.open.pop()

page = Page()
page.feed(open(sys.argv[1]).read())
assert not page.open, page.open
assert len(set(page.ids)) == len(page.ids), page.ids
assert set(page.links) <= set(page.ids) and page.links, (page.links, page.ids)
END
}

@test "a report says on a terminal how far it is" {
    PYTHONPATH=$BATS_TEST_DIRNAME python3 - "$AUTOTUNE" "$BATS_TEST_DIRNAME/../../results" <<'PY'
import os, sys
from terminal import run_on_terminal
said, child, _ = run_on_terminal([sys.argv[1], "report", "strided", "--results", sys.argv[2], "-o", "page.html"], "stderr",
                                 env=dict(os.environ, TERM="xterm"))
assert child.returncode == 0 and b"report" in said and b"/2" in said and b"explain" not in said, said
PY
}

@test "a pattern without a record is refused" {
    tool report nothing --results "$RESULTS" -o report.html
    fails_with 2 'no record of nothing'
}

# probe LOOK: adds a script to the page. The script reports elements that overlap, are wider than the page, or are hard
# to read.
probe() { # probe LOOK
    case $1 in
    light) sed 's/@media(prefers-color-scheme:dark)/@media not all/' report.html ;;
    dark) sed 's/@media(prefers-color-scheme:dark)/@media all/' report.html ;;
    print) sed 's/@media(prefers-color-scheme:dark)/@media not all/; s/@media print/@media all/' report.html ;;
    esac
    cat <<HTML
<script>
var all = [].slice.call(document.querySelectorAll('h1,h2,h3,p,pre,.wide,figure,ul,nav')), bad = [];
if (document.documentElement.scrollWidth > innerWidth) bad.push('wider than the page');
all = all.filter(function (a) { return a.getBoundingClientRect().height > 0 });
all.forEach(function (a, i) {
    var r = a.getBoundingClientRect();
    var next = all[i + 1] && all[i + 1].getBoundingClientRect();
    if (next && next.top < r.bottom - 1) bad.push(a.tagName + ' ' + i + ' overlaps');
    var scrolls = a.className == 'wide' && '$1' != 'print';
    if (!scrolls && ('$1' == 'print') == (innerWidth > 600) && a.scrollWidth > a.clientWidth + 1) bad.push(a.tagName + ' ' + i + ' is cut');
});
[].forEach.call(document.querySelectorAll('td:not(.words)'), function (e) {
    if (/^[0-9]/.test(e.textContent) && getComputedStyle(e).whiteSpace != 'nowrap') bad.push('a number wraps: ' + e.textContent);
});
function light(colour) { // WCAG's relative luminance
    return colour.match(/[0-9.]+/g).slice(0, 3).reduce(function (sum, v, i) {
        v /= 255;
        return sum + [0.2126, 0.7152, 0.0722][i] * (v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4));
    }, 0);
}
var page = light(getComputedStyle(document.body).backgroundColor);
[].forEach.call(document.querySelectorAll('body *'), function (e) {
    var ink = light(getComputedStyle(e).color), high = Math.max(ink, page), low = Math.min(ink, page);
    if ((high + 0.05) / (low + 0.05) < 4.5) bad.push(e.tagName + ' is faint');
});
if ((page < 0.2) != ('$1' == 'dark')) bad.push('not $1');
document.querySelector('table.sort th button').click();
parent.postMessage('$1 at ' + innerWidth + ': ' + (bad.join('; ') || 'good'), '*');
</script>
HTML
}

@test "in Chromium the page has no error, and nothing overlaps on a phone, a laptop or a large screen, light, dark or printed" {
    browser=$(command -v chromium || command -v chromium-browser) || skip "chromium is missing: apt-get install chromium"
    page
    # A window has at least 500 pixels, but a frame can be narrower.
    cat >frames.html <<'HTML'
<script>
onmessage = function (e) {
    var root = document.documentElement;
    root.setAttribute('data-probe', (root.getAttribute('data-probe') || '') + e.data + '|');
};
</script>
HTML
    for look in light dark print; do
        probe $look >$look.html
        for width in 380 1280 1920; do
            echo "<iframe src=\"$look.html\" style=\"width:${width}px;height:2000px;border:0\"></iframe>" >>frames.html
        done
    done
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$WORK/profile" \
        --window-size=2000,2100 --virtual-time-budget=3000 --enable-logging=stderr --dump-dom \
        "file://$WORK/frames.html" >dom.html 2>log.txt
    grep -o 'data-probe="[^"]*"' dom.html | tr '|' '\n' || true
    for look in light dark print; do
        for width in 380 1280 1920; do
            grep -q "data-probe=\"[^\"]*$look at $width: good|" dom.html
        done
    done
    lacks CONSOLE log.txt
    lacks -i 'net::err\|http' log.txt
}

@test "in Chromium the page prints" {
    browser=$(command -v chromium || command -v chromium-browser) || skip "chromium is missing: apt-get install chromium"
    page
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$WORK/profile" --enable-logging=stderr \
        --print-to-pdf=page.pdf "file://$WORK/report.html" 2>log.txt
    [ "$(head -c 5 page.pdf)" = '%PDF-' ]
    lacks CONSOLE log.txt
}
