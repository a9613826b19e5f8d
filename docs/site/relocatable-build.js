// Makes the built site work below any path. VitePress must know the path when it builds: it gets a placeholder, replaced
// with a relative path in HTML, and in scripts with the path found at run time.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { SITE_PATH_PLACEHOLDER } from "@dataset-oracle/service/http-server/static-site";
import { inlineScripts } from "./inline-scripts-and-styles.js";

/** The first script of every page, at the root of the site. */
export const HEAD_SCRIPT = "head.js";

const AT_RUN_TIME = "window.__GUIDE_BASE__";

/**
 * Vite settings that make scripts use the path found at run time.
 *
 * @type {NonNullable<import("vitepress").UserConfig["vite"]>}
 */
export const VITE_SETTINGS = {
  define: { "import.meta.env.BASE_URL": AT_RUN_TIME },
  build: { assetsInlineLimit: 0 },
  experimental: {
    renderBuiltUrl(name, { hostType, ssr }) {
      if (ssr) return undefined;
      return hostType === "js" ? { runtime: `${AT_RUN_TIME}+${JSON.stringify(name)}` } : { relative: true };
    },
  },
  plugins: [
    {
      name: "relocatable-search",
      enforce: "post",
      // The search index contains the full path of each page.
      transform(code, id) {
        if (!id.startsWith("/@localSearchIndex") || !code.includes(SITE_PATH_PLACEHOLDER)) return;
        return `${code.replace(/;?\s*$/, "")}.replaceAll(${JSON.stringify(SITE_PATH_PLACEHOLDER)}, ${AT_RUN_TIME})`;
      },
    },
  ],
};

/**
 * Replaces the placeholder in the HTML of a page.
 *
 * @param {string} html
 * @param {string} page Its Markdown file.
 */
export function relocatableHtml(html, page) {
  const root = posix.relative(posix.dirname(`/${page}`), "/");
  // The operator fills in the path when it serves this page.
  const site = page === "404.md" ? SITE_PATH_PLACEHOLDER : root === "" ? "./" : `${root}/`;
  return html.replaceAll(SITE_PATH_PLACEHOLDER, site);
}

/**
 * Writes the first script, and adds the path to the data of the site.
 *
 * @param {string} folder
 * @param {import("vitepress").SiteData} site
 */
export function relocatableScripts(folder, site) {
  const base = `${AT_RUN_TIME}=new URL(".",document.currentScript.src).pathname`;
  writeFileSync(join(folder, HEAD_SCRIPT), [base, ...inlineScripts(site)].join(";\n"));
  const chunks = join(folder, "assets", "chunks");
  for (const name of readdirSync(chunks).filter((file) => file.startsWith("metadata."))) {
    const code = readFileSync(join(chunks, name), "utf8");
    writeFileSync(join(chunks, name), `${code}window.__VP_SITE_DATA__.base=${AT_RUN_TIME};`);
  }
}
