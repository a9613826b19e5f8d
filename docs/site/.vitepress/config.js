// The settings of VitePress, which renders the documents: `npm run docs`.

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { precompress } from "@dataset-oracle/tools/precompress";
import { defineConfig } from "vitepress";
import { coloursOfCode, MARKDOWN } from "../markdown.js";
import { SECTIONS } from "../pages.js";
import { BASE, HEAD_SCRIPT, portableHtml, portableScripts, vite } from "../portable.js";
import { stagePages } from "../stage-pages.js";

const NAME = "Dataset Oracle";

/** The policy that an operator sends as a header, for hosts that send none. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "base-uri 'none'; form-action 'none'";

const sidebar = SECTIONS.map(({ title, pages }) => ({
  text: title,
  items: pages.map(({ label, path }) => ({ text: label, link: `/${path}` })),
}));

export default async () => {
  const srcDir = join(import.meta.dirname, "pages");
  await stagePages(srcDir);
  return defineConfig({
    srcDir,
    outDir: "../dist",
    base: BASE,
    lang: "en",
    title: NAME,
    titleTemplate: `:title · ${NAME}`,
    description: "Signed real-world values for smart contracts: guides, reference and design of the dataset oracle.",
    head: [
      ["meta", { "http-equiv": "content-security-policy", content: POLICY }],
      ["link", { rel: "icon", href: `${BASE}icon.svg`, type: "image/svg+xml" }],
      ["link", { rel: "stylesheet", href: `${BASE}code.css` }],
      ["script", { src: `${BASE}${HEAD_SCRIPT}` }],
    ],
    // Switching between light and dark would add an inline style to hold transitions back.
    appearance: { disableTransition: false },
    // An operator limits how many requests a reader may make.
    router: { prefetchLinks: false },
    metaChunk: true,
    markdown: MARKDOWN,
    vite,
    themeConfig: {
      logo: "/icon.svg",
      siteTitle: NAME,
      nav: [
        { text: "Guide", link: "/", activeMatch: "^/(?!reference)" },
        { text: "Reference", link: "/reference/http/", activeMatch: "^/reference/" },
        // These are the operator's, above this site.
        { text: "API", link: "/../docs/", target: "_self" },
        { text: "Live data", link: "/../", target: "_self" },
      ],
      sidebar,
      outline: [2, 3],
      search: { provider: "local" },
      docFooter: { prev: "Previous", next: "Next" },
    },
    transformHtml: portableHtml,
    buildEnd({ outDir, site }) {
      // No page is at an address that is unknown, and none is looked up by this map.
      for (const file of ["404.html", "hashmap.json"]) rmSync(join(outDir, file));
      writeFileSync(join(outDir, "code.css"), coloursOfCode());
      portableScripts(outDir, site);
      precompress(outDir);
      rmSync(srcDir, { recursive: true });
    },
  });
};
