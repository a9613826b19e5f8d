import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, test } from "vitest";
import { PAGES } from "../../pages.js";

/** What a build of the site wrote: the paths of all files, and the pages by their folders. */
export type BuiltSite = ReturnType<typeof readBuiltSite>;
type BuiltPage = ReturnType<typeof readPage>;

export function readBuiltSite(folder: string) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = new Set(entries.map(({ parentPath, name }) => posix.join(parentPath, name).slice(folder.length + 1)));
  const indexes = [...files].filter((file) => file.endsWith("index.html"));
  return { files, pages: new Map(indexes.map((file) => readPage(folder, file)).map((page) => [page.path, page])) };
}

/** Reads a page: its folder, with a slash at the end, and the addresses that it links to and loads, as written. */
function readPage(folder: string, file: string) {
  const html = readFileSync(join(folder, file), "utf8");
  const all = (pattern: RegExp) => [...html.matchAll(pattern)].map(([, value]) => value ?? "");
  const path = file.slice(0, -"index.html".length);
  return { path, html, ids: all(/\sid="([^"]+)"/g), links: all(/\s(?:href|src)="([^"]*)"/g) };
}

/** Tests the files of the built site. */
export function builtSiteTests(site: () => BuiltSite): void {
  const each = (check: (page: BuiltPage) => void) => {
    expect(site().pages.size).toBeGreaterThan(PAGES.length);
    for (const page of site().pages.values()) check(page);
  };

  test("has every page that navigation names", () => {
    expect([...site().pages.keys()]).toEqual(expect.arrayContaining(PAGES.map(({ path }) => path)));
  });

  test("links only to its own files, to anchors that are there, and to the operator above it", () => {
    // A site is served from wherever its host likes, so no path begins at the root.
    const isThere = (path: string, link: string) => {
      if (/^[a-z]+:/.test(link)) return /^(https|mailto):$/.test(new URL(link).protocol);
      const root = posix.relative(`/${path}`, "/") || ".";
      if ([`${root}/../`, `${root}/../docs/`].includes(link)) return true;
      const [file = "", anchor] = link.split("#");
      const to = file === "" ? path : posix.join(path, file).replace(/^\.\/?$/, "");
      const page = site().pages.get(to);
      if (anchor) return page?.ids.includes(decodeURIComponent(anchor)) ?? false;
      return !link.startsWith("/") && (page !== undefined || site().files.has(to));
    };
    let checked = 0;
    each(({ path, links }) => {
      expect(
        links.filter((link) => !isThere(path, link)),
        path,
      ).toEqual([]);
      checked += links.length;
    });
    expect(checked).toBeGreaterThan(1_000);
  });

  test("has no inline scripts or styles", () => {
    const forbidden = /^<(?:style|iframe)|\s(?:style|on[a-z]+)=|src="https?:/;
    each(({ path, html }) => {
      const tags = html.match(/<[a-z][^<>]*>/g) ?? [];
      expect(
        tags.filter((tag) => forbidden.test(tag)),
        path,
      ).toEqual([]);
      const scripts = [...html.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)].map(([, inner]) => inner);
      expect(scripts.length).toBeGreaterThan(1);
      expect(scripts.join(""), path).toBe("");
    });
  });

  test("gives every page one heading of the first level, a title of its own, and no anchor twice", () => {
    const titles: string[] = [];
    each(({ path, html, ids }) => {
      expect(html.match(/<h1/g), path).toHaveLength(1);
      expect([...new Set(ids)], path).toEqual(ids);
      titles.push(/<title>(.+)<\/title>/.exec(html)?.[1] ?? "");
    });
    expect(new Set(titles).size).toBe(titles.length);
  });

  test("has a .gz beside every page", () => {
    each(({ path }) => expect([...site().files]).toContain(`${path}index.html.gz`));
    expect([...site().files]).toContain("404.html.gz");
  });
}
