// Configures VitePress, which renders the documentation: `npm run docs`.

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SITE_PATH_PLACEHOLDER, STATIC_CSP } from "@dataset-oracle/service/http-server/static-site";
import { precompress } from "@dataset-oracle/tools/precompress";
import { defineConfig } from "vitepress";
import { stripInlineScriptsAndStyles } from "../inline-scripts-and-styles.js";
import { SECTIONS } from "../pages.js";
import { HEAD_SCRIPT, relocatableHtml, relocatableScripts, VITE_SETTINGS } from "../relocatable-build.js";
import { stagePages } from "../stage-pages.js";
import { codeHighlightingCss, MARKDOWN } from "../vitepress-markdown.js";

const NAME = "Dataset Oracle";

/** The policy that an operator sends as a header, for hosts that do not send one. Only a header can forbid frames. */
const POLICY = STATIC_CSP.replace(/; frame-ancestors .*$/, "");

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
    base: SITE_PATH_PLACEHOLDER,
    lang: "en",
    title: NAME,
    titleTemplate: `:title · ${NAME}`,
    description: "Signed real-world values for smart contracts: guides, reference and design of the dataset oracle.",
    head: [
      ["meta", { "http-equiv": "content-security-policy", content: POLICY }],
      ["link", { rel: "icon", href: `${SITE_PATH_PLACEHOLDER}icon.svg`, type: "image/svg+xml" }],
      ["link", { rel: "stylesheet", href: `${SITE_PATH_PLACEHOLDER}code.css` }],
      ["script", { src: `${SITE_PATH_PLACEHOLDER}${HEAD_SCRIPT}` }],
    ],
    // To suppress transitions, VitePress would insert an inline style that the policy forbids.
    appearance: { disableTransition: false },
    // Prefetching every visible link would use up an operator's rate limit.
    router: { prefetchLinks: false },
    metaChunk: true,
    markdown: MARKDOWN,
    vite: VITE_SETTINGS,
    themeConfig: {
      logo: "/icon.svg",
      siteTitle: NAME,
      nav: [
        { text: "Guide", link: "/", activeMatch: "^/(?!reference)" },
        { text: "Reference", link: "/reference/http/", activeMatch: "^/reference/" },
        // These pages belong to the operator, one level above this site.
        { text: "Live data", link: "/../", target: "_self" },
      ],
      sidebar,
      outline: [2, 3],
      search: { provider: "local" },
      notFound: {
        title: "No such page",
        quote: "The guide has no page at this address. Find the page with the navigation or the search.",
        linkLabel: "Go to the overview of the guide",
        linkText: "Go to the overview",
      },
      docFooter: { prev: "Previous", next: "Next" },
    },
    transformHtml: (html, _file, { page }) => stripInlineScriptsAndStyles(relocatableHtml(html, page)),
    buildEnd({ outDir, site }) {
      writeFileSync(join(outDir, "code.css"), codeHighlightingCss());
      relocatableScripts(outDir, site);
      precompress(outDir);
      rmSync(srcDir, { recursive: true });
    },
  });
};
