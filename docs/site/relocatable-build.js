// Makes the built site work below any path, under a content security policy that allows nothing inline. VitePress must
// know the path when it builds: it gets a placeholder, which HTML replaces by a relative path and scripts by the path that
// they find at run time.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";

/** Stands for the path that the site will be served at. */
export const BASE = "/__guide__/";

/** The first script of every page, at the root of the site. */
export const HEAD_SCRIPT = "head.js";

const AT_RUN_TIME = "window.__GUIDE_BASE__";

/** Vite settings that make scripts use the path found at run time. */
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
        if (!id.startsWith("/@localSearchIndex") || !code.includes(BASE)) return;
        return `${code.replace(/;?\s*$/, "")}.replaceAll(${JSON.stringify(BASE)}, ${AT_RUN_TIME})`;
      },
    },
  ],
};

/** The `transformHtml` of VitePress. */
export function relocatableHtml(html, _file, { page }) {
  const root = posix.relative(posix.dirname(`/${page}`), "/");
  // An operator puts the path in where it answers with this page.
  const site = page === "404.md" ? BASE : root === "" ? "./" : `${root}/`;
  return (
    html
      .replaceAll(BASE, site)
      // `relocatableScripts` moves these into the first script.
      .replace(/<script id="check-[^>]*>.*?<\/script>\s*/gs, "")
      // Components set these styles again when they start; the stylesheet has sensible values until then.
      .replace(/<[a-z][^<>]*\sstyle="[^<>]*>/g, (tag) => tag.replace(/\sstyle="[^"]*"/, ""))
  );
}

/**
 * Writes the first script, and adds the path to the data of the site.
 *
 * @param {string} folder
 * @param {import("vitepress").SiteData} site
 */
export function relocatableScripts(folder, site) {
  const inline = site.head.filter(([tag, , code]) => tag === "script" && code).map(([, , code]) => code);
  const base = `${AT_RUN_TIME}=new URL(".",document.currentScript.src).pathname`;
  writeFileSync(join(folder, HEAD_SCRIPT), [base, ...inline].join(";\n"));
  const chunks = join(folder, "assets", "chunks");
  for (const name of readdirSync(chunks).filter((file) => file.startsWith("metadata."))) {
    const code = readFileSync(join(chunks, name), "utf8");
    writeFileSync(join(chunks, name), `${code}window.__VP_SITE_DATA__.base=${AT_RUN_TIME};`);
  }
}
