// Reads the links, the images and the anchors of documents with the renderer of the site.

import { createMarkdownRenderer } from "vitepress";
import { MARKDOWN } from "./vitepress-markdown.js";

// VitePress keeps one renderer per process, with the settings of the first call.
const renderer = await createMarkdownRenderer("", MARKDOWN);

/** @param {string} text */
const inline = (text) => renderer.parse(text, {}).flatMap(({ children }) => children ?? []);

/**
 * Returns the links of a document, as they are written.
 *
 * @param {string} text
 */
export const linksOf = (text) =>
  inline(text).flatMap((token) =>
    token.type === "link_open" && token.attrGet("class") !== "header-anchor" ? [token.attrGet("href")] : [],
  );

/**
 * Returns the images of a document, as they are written.
 *
 * @param {string} text
 */
export const imagesOf = (text) =>
  inline(text).flatMap((token) => (token.type === "image" ? [token.attrGet("src")] : []));

/**
 * Returns the anchors of a document's headings.
 *
 * @param {string} text
 */
export const anchorsOf = (text) =>
  renderer.parse(text, {}).flatMap((token) => (token.type === "heading_open" ? (token.attrGet("id") ?? []) : []));
