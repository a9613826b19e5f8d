// Eleventy's settings. Documents of docs/ are read where they are; those of other rooms, the generated ones and the files
// that documents link to are added by name.

import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ROOT } from "@dataset-oracle/tools/foundry";
import { colours, languageOf } from "./highlight.js";
import { folderOf, imageOf, isExternal, isSource, target } from "./links.js";
import { imagesOf, linksOf, markdown, titleOf } from "./markdown.js";
import { PAGES } from "./pages.js";

const read = (file) => readFileSync(join(ROOT, file), "utf8");
const SITE = join(ROOT, "docs/site");

export default async function configure(eleventy) {
  eleventy.setLibrary("md", markdown);
  // Eleventy turns indented code off, which the documents have.
  eleventy.amendLibrary("md", (library) => library.enable("code"));
  // A document is Markdown and nothing else: braces in it are braces.
  eleventy.setTemplateFormats(["md"]);
  eleventy.ignores.add("docs/site/**");
  eleventy.setUseGitIgnore(false);
  eleventy.addGlobalData("layout", "page.11ty.js");
  eleventy.addGlobalData("eleventyComputed", {
    source: sourceOf,
    path: (data) => folderOf(sourceOf(data)),
    permalink: (data) => `${folderOf(sourceOf(data))}index.html`,
    title: ({ page }) => titleOf(page.rawInput),
  });

  const texts = await Promise.all(PAGES.map(async (page) => [page, await (page.generate?.() ?? read(page.source))]));
  for (const [{ source }, text] of texts) {
    if (source.startsWith("docs/") && !source.startsWith("docs/reference/")) continue;
    eleventy.addTemplate(`added/${source}`, text, { file: source });
  }
  for (const file of sourcesOf(texts)) {
    const text = `# ${file}\n\n\`\`\`\`${languageOf(file)}\n${read(file)}\n\`\`\`\`\n`;
    eleventy.addTemplate(`source/${file}.md`, text, { file });
  }

  eleventy.on("eleventy.after", ({ directories }) => {
    const folder = resolve(ROOT, directories.output);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "style.css"), readFileSync(join(SITE, "style.css"), "utf8") + colours());
    for (const [{ source }, text] of texts) {
      for (const { file } of imagesOf(text).map((src) => target(source, src))) {
        mkdirSync(dirname(join(folder, imageOf(file))), { recursive: true });
        copyFileSync(join(ROOT, file), join(folder, imageOf(file)));
      }
    }
    for (const file of ["copy.js", "icon.svg"]) copyFileSync(join(SITE, file), join(folder, file));
  });

  return {
    dir: { input: "docs", includes: "site/layouts" },
    markdownTemplateEngine: false,
  };
}

/** What a template is made of, from the repository's root. */
const sourceOf = ({ file, page }) => file || page.inputPath.replace(/^\.\//, "");

/** The files that documents link to and that are no pages. */
function sourcesOf(texts) {
  const files = texts.flatMap(([{ source }, text]) =>
    linksOf(text)
      .filter((href) => !isExternal(href))
      .map((href) => target(source, href).file),
  );
  return [...new Set(files)].filter((file) => isSource(file) && statSync(join(ROOT, file)).isFile());
}
