/* The style sheet of the page: no file beside it, no font or script from
 * elsewhere. Shades differ in lightness and hatching, so that they can be told
 * apart on a grey printout and by people who do not see colours. */
#include "render/render_private.h"

/* The rows of a table of that class, each as a card: its first cell is a heading, the others
 * are next to their column's title. A wide window has several of them next to each other. */
#define CARDS(class)                                                           \
    "." class ",." class " tbody,." class " tfoot{display:block}." class       \
    " thead{position:absolute;width:1px;height:1px;overflow:hidden;"           \
    "clip-path:inset(50%)}." class                                             \
    " tr{display:grid;grid-template-columns:repeat(auto-fill,minmax("          \
    "min(13rem,100%),1fr));gap:.1rem 1.6rem;padding:.5rem 0;"                  \
    "border-bottom:1px solid var(--line)}." class                              \
    " th[scope=row]{grid-column:1/-1;padding:0;border:0;font-weight:600;"      \
    "overflow-wrap:anywhere}." class                                           \
    " td{display:flow-root;padding:0;border:0;min-width:0;text-align:right;"   \
    "overflow-wrap:anywhere}." class                                           \
    " td::before{display:block;float:left;max-width:60%;margin-right:1rem;"    \
    "color:var(--soft);font-weight:400;text-align:left;white-space:normal;"    \
    "overflow-wrap:normal}." class " td:empty{display:none}." class            \
    " td.w{grid-column:1/-1;text-align:left}." class                           \
    " td.w::before{float:none;max-width:none}"

/* The style of shapes and text in a drawing. */
#define DRAWING(s0, s1, s2, s3, s4, s5, ink, soft, line, wash, hatch, size)    \
    ".s0{fill:" s0 "}.s1,.s7,.s11,.s14{fill:" s1 "}"                           \
    ".s2,.s8,.s12{fill:" s2 "}.s3,.s6,.s9,.s15{fill:" s3 "}"                   \
    ".s4,.s10,.s13{fill:" s4 "}.s5{fill:" s5 "}\n"                             \
    ".h1,.h8{fill:url(#hatch1)}.h3,.h14{fill:url(#hatch3)}"                    \
    ".h4,.h9,.h11{fill:url(#hatch4)}"                                          \
    ".h5,.h7,.h12,.h13,.h15{fill:url(#hatch5)}"                                \
    ".h6,.h10{fill:url(#hatch6)}\n"                                            \
    ".f0{fill:" wash "}.f1,.f2,.f3,.f4,.f5{fill:" s0 "}"                       \
    ".f1{fill-opacity:.15}.f2{fill-opacity:.35}.f3{fill-opacity:.55}"          \
    ".f4{fill-opacity:.75}\n"                                                  \
    ".plot text{font-size:" size ";fill:" soft ";"                             \
    "font-variant-numeric:tabular-nums}\n"                                     \
    ".tick{text-anchor:end}.point{text-anchor:middle}\n"                       \
    ".grid,.zero,.limit{stroke:" line ";stroke-width:1}"                       \
    ".zero{stroke:" soft "}.limit{stroke:" ink ";stroke-width:2}\n"            \
    "[class^=l]{stroke-width:2}.l0{stroke:" s0 "}"                             \
    ".l1{stroke:" s1 ";stroke-dasharray:7 3}"                                  \
    ".l2,.l3,.l4,.l5{stroke:" ink ";stroke-dasharray:2 3}\n"                   \
    ".hatch{stroke:" hatch ";stroke-width:1;fill:none}\n"                      \
    ".hatchdot{fill:" hatch "}\n"

/* The colours of paper. */
#define INK "#000"
#define SOFT "#444"
#define LINE "#bbb"
#define WHITE "#fff"
#define S0 "#2d2d2d"
#define S1 "#7d7d7d"
#define S2 "#d4d4d4"
#define S3 "#eee"
#define S4 "#999"

const char render_style[]
    = ":root{color-scheme:light "
      "dark;--ink:#1b2430;--soft:#5a6675;--line:#d9dee5;"
      "--paper:#fff;--wash:#f4f6f9;--s0:#1f5fa8;--s1:#5b94d3;--s2:#c9d8ea;"
      "--s3:#e9edf2;--s4:#8b96a5;--s5:#fff;--hatch:#5a6675;--warn:#8a5300;"
      "--warnwash:#fff6e5;--good:#1c6b3c;--bad:#a3211b}\n"
      "@media(prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#9aa7b6;"
      "--line:#343d49;--paper:#14181e;--wash:#1c222a;--s0:#5b9ee8;--s1:#3a6ea5;"
      "--s2:#2c4058;--s3:#262d36;--s4:#6d7886;--s5:#14181e;--hatch:#9aa7b6;"
      "--warn:#ffc46b;--warnwash:#33270f;--good:#74cf98;--bad:#ff8f87}}\n"
      "*{box-sizing:border-box}\n"
      "body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.45 "
      "system-ui,-apple-system,\"Segoe UI\",Roboto,\"Liberation "
      "Sans\",sans-serif}\n"
      "main{max-width:66rem;margin:0 auto;padding:2.5rem 1.5rem 3rem}\n"
      "h1{font-size:1.9rem;line-height:1.2;margin:.1rem 0 .3rem;"
      "letter-spacing:-.01em;text-wrap:balance}\n"
      "h2{font-size:1.1rem;margin:2.4rem 0 .7rem}\n"
      "h1,h2,h3,caption,nav,dt,.label,footer{overflow-wrap:anywhere}\n"
      "p{margin:.3rem 0}\n"
      ".mark{color:var(--soft);font-size:.82rem;letter-spacing:.06em;margin:0}"
      "\n"
      ".about{color:var(--soft);overflow-wrap:anywhere}\n"
      ".asked{display:flex;flex-wrap:wrap;gap:.3rem 1.6rem;margin:.5rem 0 0;"
    "font-size:.9rem}.asked dt{color:var(--soft);font-size:.8rem}"
    ".asked dd{margin:0;overflow-wrap:anywhere}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax("
      "11rem,"
      "1fr));gap:.8rem;margin:1.6rem 0 0}\n"
      ".figures:has(>:nth-child(6):last-child){" /* three by two */
      "grid-template-columns:repeat(auto-fit,minmax(17rem,1fr))}\n"
      ".figures:has(.hint+.hint){" /* sentences */
      "grid-template-columns:repeat(auto-fit,minmax(min(100%,19rem),1fr))}\n"
      ".figures div{background:var(--wash);border:1px solid var(--line);"
      "border-radius:.5rem;padding:.8rem 1rem}\n"
      ".figures dt{color:var(--soft);font-size:.85rem}\n"
      ".figures dd{margin:0}\n"
      ".figures .value{font-size:1.55rem;line-height:1.3;font-weight:600;"
      "font-variant-numeric:tabular-nums}\n"
      ".figures .hint{color:var(--soft);font-size:.85rem}.hint+.hint{margin-top:.5rem}\n"
      ".notes{list-style:none;margin:1.2rem 0 0;padding:0}\n"
      ".notes li{border-left:.25rem solid var(--line);background:var(--wash);"
      "padding:.45rem .9rem;margin:.4rem 0;overflow-wrap:anywhere}\n"
      ".notes .warning{border-color:var(--warn);background:var(--warnwash)}\n"
      ".notes b{margin-right:.3rem}\n"
      ".warning b{color:var(--warn)}\n"
      "figure{margin:0}\n"
      "svg{display:block;width:100%}\n"
      "figure ul{list-style:none;margin:.6rem 0 0;padding:0;max-width:44rem}\n"
      ".bars li{display:grid;grid-template-columns:minmax(0,1fr) max-content;"
      "gap:0 1rem;margin:.35rem 0;font-size:.92rem;break-inside:avoid}\n"
      ".bars .bar{grid-column:1/-1;height:.6rem;background:var(--wash)}\n"
      ".d{white-space:nowrap}\n"
      ".stack{height:2rem;margin-top:.6rem;border:1px solid var(--soft)}\n"
      ".legend li{display:grid;grid-template-columns:1rem minmax(0,1fr) "
      "max-content;gap:0 .7rem;align-items:baseline;padding:.15rem 0;"
      "font-size:.92rem}\n"
      ".swatch{height:.85rem;border:1px solid var(--soft);align-self:center}.swatch.line{border:0;width:2rem}"
    ".legend li:has(.line){grid-template-columns:2rem 1fr}\n"
      "@media(min-width:40rem){.bars li{grid-template-columns:minmax(0,14rem) "
      "1fr "
      "8rem;align-items:center;margin:.2rem 0}.bars .bar{grid-column:2;"
      "grid-row:1;height:.9rem}.bars .n{grid-column:3}figure ul,.stack{"
      "max-width:none}.legend{columns:2;column-gap:2.5rem}.legend "
      "li{break-inside:avoid}}\n"
      ".axes{padding:.6rem .6rem 1.7rem 4.6rem}\n"
      ".plot{height:12rem;overflow:visible}.heat .plot{height:11rem}\n"
      ".unit{color:var(--soft);font-size:.82rem;margin:.5rem 0 0}\n"
      ".values{margin-top:.6rem}.values table{width:auto}\n"
      "@media(max-width:40rem){.wide{display:none}.axes{padding-left:3.6rem}}\n"
      DRAWING ("var(--s0)", "var(--s1)", "var(--s2)", "var(--s3)", "var(--s4)",
               "var(--s5)", "var(--ink)", "var(--soft)", "var(--line)",
               "var(--wash)", "var(--hatch)", ".8rem")
      ".scroll{overflow-x:auto}\n"
      "table{border-collapse:collapse;width:100%;font-size:.92rem}\n"
      "th,td{padding:.36rem .55rem;text-align:left;border-bottom:1px solid "
      "var(--line);vertical-align:top}\n"
      "thead th{color:var(--soft);font-weight:600;border-bottom:2px solid "
      "var(--line);vertical-align:bottom}\n"
      ".w{overflow-wrap:anywhere;min-width:9em}\n"
      "tbody th{font-weight:500}\n"
      "tbody tr:hover{background:var(--wash)}\n"
      ".sub th,.sub td{font-weight:600}\n"
      "tfoot th,tfoot td{font-weight:600;border-top:2px solid var(--soft);"
      "border-bottom:0}\n"
      ".n{text-align:right;font-variant-numeric:tabular-nums;white-space:"
      "nowrap}thead .n{white-space:normal}\n"
      ".f{color:var(--soft);font-weight:400;font-size:.78em}\n"
      ".missing{color:var(--soft)}\n"
      ".proofs{display:grid;grid-template-columns:repeat(auto-fit,minmax("
      "min(22rem,100%),1fr));gap:1.4rem 2.5rem;align-items:start}\n"
      ".proof tr:last-child td,.proof tr:last-child th{font-weight:600}\n"
      ".proof caption{text-align:left;padding:.2rem .55rem "
      ".4rem;font-weight:600}"
      "\n"
      ".badge{display:inline-block;border:1.5px solid;border-radius:.3rem;"
      "padding:0 .4rem;margin-left:.5rem;font-size:.8rem}\n"
      ".pass{color:var(--good)}.fail{color:var(--bad)}\n"
      "dl.words{display:grid;grid-template-columns:fit-content(40%) 1fr;"
      "gap:.25rem 1.2rem;margin:0}\n"
      ".words dt{font-weight:500}\n"
      ".words dd{margin:0;color:var(--soft);overflow-wrap:anywhere}\n"
      "@media(max-width:40rem){dl.words{grid-template-columns:1fr}"
      ".words dd{margin-bottom:.4rem}}\n"
      "td::before{display:none}\n"
      "@media screen and (max-width:40rem){main{padding:1.5rem 1rem 2rem}"
      "h1{font-size:1.6rem}" CARDS ("cards") "}\n"
      "@media screen and (max-width:64rem){" CARDS ("many") "}\n"
      "@media print,(max-width:110rem){" CARDS ("most") "}\n"
      "footer{margin-top:2.6rem;border-top:1px solid var(--line);"
      "padding-top:.8rem;color:var(--soft);font-size:.85rem}\n"
      "@page{margin:16mm 14mm}\n"
      "@media "
      "print{:root{color-scheme:light;--ink:" INK ";--soft:" SOFT
      ";--line:" LINE ";--paper:" WHITE ";--wash:" WHITE ";--s0:" S0 ";--s1:" S1
      ";--s2:" S2 ";--s3:" S3 ";--s4:" S4 ";--s5:" WHITE ";--hatch:" SOFT
      ";--warn:" INK ";--warnwash:" WHITE ";--good:" INK ";--bad:" INK "}html{font-size:82%}body{font-size:10pt}main{max-width:none;padding:"
      "0}"
      "*{-webkit-print-color-adjust:exact;print-color-adjust:exact}"
      "h2,h2+.about,figcaption,.unit{break-after:avoid}h2{margin-top:1.8rem}"
      ".figures{grid-template-columns:repeat(auto-fit,minmax(9rem,1fr))}"
      ".figures:has(.hint+.hint){display:block}"
      ".words{font-size:9pt}tr,.axes,.stack,.proof,.figures div,.notes "
      "li{break-inside:avoid}.figures:has(.hint+.hint) "
      "div{break-inside:auto;margin-bottom:.4rem}"
      "thead{display:table-header-group}tfoot{display:table-row-group}"
      ".scroll{overflow:visible}.values{display:none}"
      ".proofs{grid-template-columns:1fr 1fr}table{font-size:9pt}th,td{padding:.2rem .4rem}"
      ".many{font-size:8pt}.many th,.many td{padding:.2rem .25rem}}"
      "\n";

/* Of the pages of a site, in addition: their links. */
const char render_frame_style[]
    = "a{color:var(--link);text-underline-offset:.15em}\n"
      ":root{--link:#1a56a0}\n"
      "@media(prefers-color-scheme:dark){:root{--link:#8ebcf2}}\n"
      "nav ol,nav ul{list-style:none;display:flex;flex-wrap:wrap;"
      "gap:.2rem 1.1rem;margin:.4rem 0 0;padding:0;font-size:.92rem}\n"
      "nav ol{gap:.2rem 0}nav ol li+li::before{content:\"\\203a\";"
      "color:var(--soft);margin:0 .5rem}\n"
      "nav ul{margin-top:.8rem}\n"
      ".logo{height:1.6rem;vertical-align:middle;margin-right:.6rem}\n"
      "@media print{nav{display:none}a{color:inherit;text-decoration:none}}\n";

/* 0, 2 and 5 are plain. */
bool render_shade_is_hatched (int shade)
{
    return shade != 0 && shade != 2;
}

/* Laid over a shade: lines in several directions, dots. */
#define PATTERNS \
    "<pattern id=\"hatch1\" width=\"6\" height=\"6\" " \
    "patternUnits=\"userSpaceOnUse\"><path class=\"hatch\" " \
    "d=\"M0 6L6 0\"/></pattern>\n" \
    "<pattern id=\"hatch3\" width=\"6\" height=\"6\" " \
    "patternUnits=\"userSpaceOnUse\"><path class=\"hatch\" " \
    "d=\"M0 0L6 6\"/></pattern>\n" \
    "<pattern id=\"hatch4\" width=\"6\" height=\"6\" " \
    "patternUnits=\"userSpaceOnUse\"><path class=\"hatch\" " \
    "d=\"M0 6L6 0M0 0L6 6\"/></pattern>\n" \
    "<pattern id=\"hatch5\" width=\"6\" height=\"6\" " \
    "patternUnits=\"userSpaceOnUse\"><circle class=\"hatchdot\" cx=\"3\" " \
    "cy=\"3\" r=\"1\"/></pattern>\n" \
    "<pattern id=\"hatch6\" width=\"6\" height=\"6\" " \
    "patternUnits=\"userSpaceOnUse\"><path class=\"hatch\" " \
    "d=\"M0 3H6\"/></pattern>\n"

const char render_svg_patterns[]
    = "<svg width=\"0\" height=\"0\" style=\"position:absolute\" "
      "aria-hidden=\"true\" focusable=\"false\"><defs>\n" PATTERNS
      "</defs></svg>\n";

/* WeasyPrint knows neither grids nor gaps, nor variables in a border. A PDF is read without the
 * site: its links lead nowhere. */
const char render_paper_style[]
    = "<style>@page{@bottom-right{content:counter(page) \" / \" "
      "counter(pages);font-size:8pt;color:" SOFT "}}"
      "a{-weasy-link:none}"
      ".asked,.figures,.proofs,dl.words,.legend li,.bars li{display:block}"
      ".asked div{display:inline-block;margin:0 1.4rem .3rem 0}"
      ".figures div{display:inline-block;width:18.5%;margin:0 1% .6rem 0;"
      "padding:.4rem .5rem;vertical-align:top}"
      ".figures div,.stack,.swatch{border:1px solid " LINE "}"
      ".notes li{border-left:.25rem solid " LINE "}"
      "figure ul{max-width:none}.legend{columns:2}"
      ".legend li{break-inside:avoid}.legend .n,.bars .n{float:right}"
      ".axes{padding:0}.plot,.heat .plot{height:200px}"
      ".legend .swatch{float:left;width:1rem;margin:.2rem .7rem 0 0}"
      ".legend .line{border:0;width:2rem}"
      ".bars .bar{clear:both;height:.6rem}"
      ".proofs .scroll{display:inline-block;width:47%;margin-right:2%;"
      "vertical-align:top}"
      ".words dt{float:left;clear:left;width:24%}.words dd{margin-left:25%}"
      "th,td{border-bottom:1px solid " LINE "}"
      "thead th{border-bottom:2px solid " LINE "}"
      "tfoot th,tfoot td{border-top:2px solid " SOFT ";border-bottom:0}"
      "footer{border-top:1px solid " LINE "}</style>\n";

/* It draws by the rules within a drawing alone. */
const char render_paper_drawing[]
    = "<style>" DRAWING (S0, S1, S2, S3, S4, WHITE, INK, SOFT, LINE, WHITE,
                         SOFT, "12px") "</style><defs>" PATTERNS "</defs>";
