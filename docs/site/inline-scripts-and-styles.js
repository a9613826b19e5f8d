// Takes the inline scripts and styles out of the built site: the content security policy allows none.

/**
 * Removes the inline scripts and styles of a page. The scripts must run elsewhere: `inlineScripts` returns them.
 *
 * @param {string} html
 */
export const stripInlineScriptsAndStyles = (html) =>
  html
    .replace(/<script id="check-[^>]*>.*?<\/script>\s*/gs, "")
    // Components set these styles again when they start; the stylesheet has sensible values until then.
    .replace(/<[a-z][^<>]*\sstyle="[^<>]*>/g, (tag) => tag.replace(/\sstyle="[^"]*"/, ""));

/**
 * Returns the code of the inline scripts that VitePress writes into every page.
 *
 * @param {import("vitepress").SiteData} site
 */
export const inlineScripts = (site) =>
  site.head.filter(([tag, , code]) => tag === "script" && code).map(([, , code]) => code);
