// Colours code when the site is built. The colours are classes, for both themes: no page has a style of its own.

import { transformerStyleToClass } from "@shikijs/transformers";
import { createHighlighter } from "shiki";

const LANGUAGES = ["docker", "http", "ini", "javascript", "json", "sh", "solidity", "toml", "typescript", "yaml"];
const OF_EXTENSION = { sol: "solidity", ts: "typescript", js: "javascript", json: "json", toml: "toml", yml: "yaml" };

const highlighter = await createHighlighter({
  themes: ["github-light-high-contrast", "github-dark-high-contrast"],
  langs: LANGUAGES,
});
const classes = transformerStyleToClass({ classPrefix: "c" });

/** The language of a file, by its name. */
export const languageOf = (file) => OF_EXTENSION[file.split(".").at(-1)] ?? "text";

/**
 * Code as HTML.
 *
 * @param {string} code
 * @param {string} language As it stands behind the fence; unknown ones are shown without colours.
 */
export function highlight(code, language) {
  const lang = language === "dockerfile" ? "docker" : language;
  return highlighter.codeToHtml(code.trimEnd(), {
    lang: highlighter.getLoadedLanguages().includes(lang) ? lang : "text",
    themes: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    defaultColor: false,
    transformers: [classes],
  });
}

/** The rules of every class that was used so far. */
export const colours = () => classes.getCSS();
