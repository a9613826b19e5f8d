import { relative } from "../links.js";
import { PAGES, SECTIONS } from "../pages.js";

const NAME = "Dataset Oracle";
/** Only what is of this site: the same as the operator's header says, for hosts that send none. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'";

const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/** A document in its place: navigation, contents, what comes before and after. */
export function render({ path, title, content }) {
  const link = (to) => relative(path, to);
  const place = PAGES.findIndex((page) => page.path === path);
  const contents = contentsOf(content);
  const heading = path === "" ? NAME : `${title} · ${NAME}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${plain(heading)}</title>
<link rel="icon" href="${link("icon.svg")}" type="image/svg+xml">
<link rel="stylesheet" href="${link("style.css")}">
<script src="${link("copy.js")}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header class="top"><a class="name" href="${link("")}">${NAME}</a>
<details class="menu"><summary>Menu</summary><nav aria-label="Pages">${navigation(path, link)}</nav></details>
</header>
<div class="columns">
<nav class="pages" aria-label="Pages">${navigation(path, link)}</nav>
<main id="main">
${contents === "" ? "" : `<details class="contents"><summary>On this page</summary>${contents}</details>`}
<article>
${content}
</article>
${place < 0 ? "" : neighbours(place, link)}
</main>
${contents === "" ? "" : `<nav class="contents" aria-label="On this page"><p>On this page</p>${contents}</nav>`}
</div>
</body>
</html>
`;
}

function navigation(path, link) {
  const item = (page) => {
    const current = page.path === path ? ' aria-current="page"' : "";
    return `<li><a href="${link(page.path)}"${current}>${plain(page.label)}</a></li>`;
  };
  return SECTIONS.map(({ title, pages }) => `<p>${title}</p><ul>${pages.map(item).join("")}</ul>`).join("");
}

/** The headings of a page, as links. */
function contentsOf(content) {
  const headings = [...content.matchAll(/<h([23]) id="([^"]+)">(.*?)<\/h\1>/gs)];
  if (headings.length < 2) return "";
  const items = headings.map(([, level, id, inner]) => {
    const text = inner.replace(/<\/?a\b[^>]*>/g, "");
    return `<li class="level${level}"><a href="#${id}">${text}</a></li>`;
  });
  return `<ul>${items.join("")}</ul>`;
}

function neighbours(place, link) {
  const to = (page, relation, word) =>
    page ? `<a rel="${relation}" href="${link(page.path)}"><span>${word}</span>${plain(page.label)}</a>` : "";
  return `<nav class="neighbours" aria-label="Before and after">${to(PAGES[place - 1], "prev", "Before")}${to(PAGES[place + 1], "next", "Next")}</nav>`;
}
