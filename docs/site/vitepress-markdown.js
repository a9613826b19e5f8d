// Configures how VitePress reads Markdown: anchors as code hosts make them, links between files as links between pages.

import { transformerStyleToClass } from "@shikijs/transformers";
import { isExternal, linkedFile } from "./linked-file.js";
import { documentOf, folderOf, imageOf, relative } from "./site-urls.js";

/** @typedef {import("vitepress").MarkdownRenderer["core"]["ruler"]} Rules */

// The strict content security policy allows no style attributes.
const colours = transformerStyleToClass({ classPrefix: "c" });

/** Returns the CSS of every colour used so far. */
export const codeHighlightingCss = () => colours.getCSS();

/**
 * Returns the anchor that code hosts give a heading.
 *
 * @param {string} heading
 */
const slug = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
    .replaceAll(" ", "-");

/**
 * The settings for rendering Markdown. Extensions that code hosts do not support are off.
 *
 * @type {import("vitepress").MarkdownOptions}
 */
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
    const { fence } = md.renderer.rules;
    if (fence === undefined) throw new Error("The renderer of Markdown has no rule for fences.");
    md.renderer.rules.code_block = fence;
    // Search renders every page a second time.
    /** @type {Map<string, string>} */
    const known = new Map();
    const { highlight } = md.options;
    md.options.highlight = (code, language, attributes) => {
      const key = JSON.stringify([code, language, attributes]);
      const highlighted = known.get(key) ?? highlight?.(code, language, attributes) ?? "";
      known.set(key, highlighted);
      return highlighted;
    };
  },
};

/**
 * Turns links to files into links to pages. `env.relativePath` is undefined while links are only being collected.
 *
 * @param {Parameters<Parameters<Rules["push"]>[1]>[0]} state
 */
function siteLinks({ tokens, env }) {
  if (env.relativePath === undefined) return;
  const folder = env.relativePath.replace(/index\.md$/, "");
  const document = documentOf(folder) ?? "";
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    if (token.type === "image")
      token.attrSet("src", `/${imageOf(linkedFile(document, token.attrGet("src") ?? "").file)}`);
    const href = token.type === "link_open" ? token.attrGet("href") : null;
    // Headings link to themselves.
    if (href === null || isExternal(href) || href.startsWith("#")) continue;
    const { file, anchor } = linkedFile(document, href);
    token.attrSet("href", relative(folder, folderOf(file)) + anchor);
  }
}
