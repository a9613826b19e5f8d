// Configures how VitePress reads Markdown: anchors as code hosts make them, links between files as links between pages.

import { transformerStyleToClass } from "@shikijs/transformers";
import { isExternal, linkedFile } from "./linked-file.js";
import { documentOf, folderOf, imageOf, relative } from "./site-urls.js";

// The strict content security policy allows no style attributes.
const colours = transformerStyleToClass({ classPrefix: "c" });

/** Returns the CSS of every colour used so far. */
export const codeHighlightingCss = () => colours.getCSS();

/** Returns the anchor that code hosts give a heading. */
const slug = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
    .replaceAll(" ", "-");

/** The settings for rendering Markdown. Extensions that code hosts do not support are off. */
export const MARKDOWN = {
  theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  codeTransformers: [colours],
  anchor: { slugify: slug },
  linkify: false,
  attrs: { disable: true },
  config: (md) => {
    md.core.ruler.push("site_links", siteLinks);
    // References contain placeholders such as `<host>` in their text. HTML blocks stay on for comments in documents.
    md.disable(["html_inline", "emoji"]);
    md.renderer.rules.code_block = (...block) => md.renderer.rules.fence(...block);
    // Search renders every page a second time.
    const known = new Map();
    const { highlight } = md.options;
    md.options.highlight = (code, language, attributes) => {
      const key = JSON.stringify([code, language, attributes]);
      if (!known.has(key)) known.set(key, highlight(code, language, attributes));
      return known.get(key);
    };
  },
};

/** Turns links to files into links to pages. `env.relativePath` is undefined while links are only being collected. */
function siteLinks({ tokens, env }) {
  if (env.relativePath === undefined) return;
  const folder = env.relativePath.replace(/index\.md$/, "");
  const document = documentOf(folder);
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    if (token.type === "image") token.attrSet("src", `/${imageOf(linkedFile(document, token.attrGet("src")).file)}`);
    const href = token.type === "link_open" ? token.attrGet("href") : null;
    // Headings link to themselves.
    if (href === null || isExternal(href) || href.startsWith("#")) continue;
    const { file, anchor } = linkedFile(document, href);
    token.attrSet("href", relative(folder, folderOf(file)) + anchor);
  }
}
