// How Markdown is read: anchors as code hosts make them, links between documents as links between pages, coloured code.

import { transformerStyleToClass } from "@shikijs/transformers";
import { createMarkdownRenderer } from "vitepress";
import { folderOf, imageOf, isExternal, relative, sourceOf, target } from "./links.js";

// The strict content security policy allows no style attributes.
const colours = transformerStyleToClass({ classPrefix: "c" });

/** The rules of every colour that was used so far. */
export const coloursOfCode = () => colours.getCSS();

/** The anchor that code hosts give a heading. */
export const slug = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
    .replaceAll(" ", "-");

/** The settings that VitePress renders Markdown with. What it adds to the language is off: code hosts do not know it. */
export const MARKDOWN = {
  theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  codeTransformers: [colours],
  languageAlias: { dockerfile: "docker" },
  anchor: { slugify: slug },
  linkify: false,
  attrs: { disable: true },
  config: (md) => {
    md.core.ruler.push("site_links", siteLinks);
    // The references say `<host>` and mean it. HTML blocks stay, for the comments of documents.
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

/** Turns links to files into links to pages. `env.relativePath` is the page's file, and is missing for other texts. */
function siteLinks({ tokens, env }) {
  if (env.relativePath === undefined) return;
  const folder = env.relativePath.replace(/index\.md$/, "");
  const source = sourceOf(folder);
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    if (token.type === "image") token.attrSet("src", `/${imageOf(target(source, token.attrGet("src")).file)}`);
    const href = token.type === "link_open" ? token.attrGet("href") : null;
    // The link of a heading to itself is one of the site already.
    if (href === null || isExternal(href) || href.startsWith("#")) continue;
    const { file, anchor } = target(source, href);
    token.attrSet("href", relative(folder, folderOf(file)) + anchor);
  }
}

// VitePress has one renderer for a process, and takes the settings of the first that asks for it.
const renderer = await createMarkdownRenderer("", MARKDOWN);

const inline = (text) => renderer.parse(text, {}).flatMap(({ children }) => children ?? []);

/**
 * Returns the links of a document, as they are written.
 *
 * @param {string} text
 * @returns {string[]}
 */
export const linksOf = (text) =>
  inline(text).flatMap((token) =>
    token.type === "link_open" && token.attrGet("class") !== "header-anchor" ? [token.attrGet("href")] : [],
  );

/**
 * Returns the images of a document, as they are written.
 *
 * @param {string} text
 * @returns {string[]}
 */
export const imagesOf = (text) =>
  inline(text).flatMap((token) => (token.type === "image" ? [token.attrGet("src")] : []));

/**
 * Returns the anchors of a document's headings.
 *
 * @param {string} text
 * @returns {string[]}
 */
export const anchorsOf = (text) =>
  renderer.parse(text, {}).flatMap((token) => (token.type === "heading_open" ? (token.attrGet("id") ?? []) : []));
