// Makes the built site one that any host can serve, below any path and under a policy without anything inline. VitePress
// wants to know its path in advance: it is given a placeholder, which becomes a relative path in HTML and is found out in
// the browser by scripts.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";

/** Stands for the path that the site will be served at. */
export const BASE = "/__guide__/";

/** The first script of every page, at the root of the site. */
export const HEAD_SCRIPT = "head.js";

const AT_RUN_TIME = "window.__GUIDE_BASE__";

/** Settings of Vite by which scripts ask for the path at run time. */
export const vite = {
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
      name: "portable-search",
      enforce: "post",
      // The search index names pages by their whole path.
      transform(code, id) {
        if (!id.startsWith("/@localSearchIndex") || !code.includes(BASE)) return;
        return `${code.replace(/;?\s*$/, "")}.replaceAll(${JSON.stringify(BASE)}, ${AT_RUN_TIME})`;
      },
    },
  ],
};

/** The `transformHtml` of VitePress. */
export function portableHtml(html, _file, { page }) {
  const root = posix.relative(posix.dirname(`/${page}`), "/");
  return (
    html
      .replaceAll(BASE, root === "" ? "./" : `${root}/`)
      // They are in the first script instead.
      .replace(/<script id="check-[^>]*>.*?<\/script>\s*/gs, "")
      // The components set these styles again once they run; until then their defaults do.
      .replace(/<[a-z][^<>]*\sstyle="[^<>]*>/g, (tag) => tag.replace(/\sstyle="[^"]*"/, ""))
  );
}

/**
 * Writes the first script, and completes the data of the site by its path.
 *
 * @param {string} folder
 * @param {import("vitepress").SiteData} site
 */
export function portableScripts(folder, site) {
  const inline = site.head.filter(([tag, , code]) => tag === "script" && code).map(([, , code]) => code);
  const base = `${AT_RUN_TIME}=new URL(".",document.currentScript.src).pathname`;
  writeFileSync(join(folder, HEAD_SCRIPT), [base, ...inline].join(";\n"));
  const chunks = join(folder, "assets", "chunks");
  for (const name of readdirSync(chunks).filter((file) => file.startsWith("metadata."))) {
    const code = readFileSync(join(chunks, name), "utf8");
    writeFileSync(join(chunks, name), `${code}window.__VP_SITE_DATA__.base=${AT_RUN_TIME};`);
  }
}
