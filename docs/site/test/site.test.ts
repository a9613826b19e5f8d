import { rmSync } from "node:fs";
import { dirname, posix } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PAGES } from "../pages.js";
import { render } from "./rendered.js";

let site: ReturnType<typeof render>;

beforeAll(() => {
  site = render();
});
afterAll(() => rmSync(dirname(site.folder), { recursive: true }));

const each = (check: (page: NonNullable<ReturnType<typeof site.pages.get>>) => void) => {
  expect(site.pages.size).toBeGreaterThan(PAGES.length);
  for (const page of site.pages.values()) check(page);
};

test("every page that navigation names is there, and navigation is on every page", () => {
  for (const { path } of PAGES) expect([...site.pages.keys()]).toContain(path);
  each(({ path, html }) => {
    const [navigation = ""] = /<nav class="pages"[\s\S]*?<\/nav>/.exec(html) ?? [];
    const shown = [...navigation.matchAll(/href="([^"]+)"/g)].map(([, href]) => posix.join("/", path, href ?? ""));
    expect(shown).toEqual(PAGES.map((page) => posix.join("/", page.path)));
  });
});

test("every link leads to a file of the site and, where it names one, to an anchor there", () => {
  let checked = 0;
  each(({ path, links }) => {
    for (const link of links) {
      if (/^[a-z]+:/.test(link)) {
        expect(new URL(link).protocol, `${path}: ${link}`).toMatch(/^(https|mailto):$/);
        continue;
      }
      // A site is served from wherever its host likes.
      expect(link.startsWith("/"), `${path}: ${link}`).toBe(false);
      const [file = "", anchor] = link.split("#");
      const to = file === "" ? path : posix.join(path, file).replace(/^\.\/?$/, "");
      const page = site.pages.get(to);
      expect(page !== undefined || site.files.has(to), `${path}: ${link}`).toBe(true);
      if (anchor) expect(page?.ids, `${path}: ${link}`).toContain(decodeURIComponent(anchor));
      checked++;
    }
  });
  expect(checked).toBeGreaterThan(1_000);
});

test("no page has a script or style of its own, or loads anything from elsewhere", () => {
  each(({ path, html }) => {
    const outside = html.replace(/<pre[\s\S]*?<\/pre>|<code>[\s\S]*?<\/code>/g, "");
    expect(outside, path).not.toMatch(/<style|\sstyle=|\son[a-z]+="|<iframe|<img[^>]+src="https?:/);
    expect(html.match(/<pre[^>]*\sstyle=|<span[^>]*\sstyle=/), path).toBeNull();
    expect([...html.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)].map(([, inner]) => inner)).toEqual([""]);
    const loaded = [...html.matchAll(/<(?:script|link)\b[^>]*(?:src|href)="([^"]+)"/g)].map(([, url]) => url);
    for (const url of loaded) expect(url, path).toMatch(/^(?:\.\.\/|\.\/)*(?:style\.css|copy\.js|icon\.svg)$/);
  });
});

test("every page has one heading of the first level, a title of its own, and no anchor twice", () => {
  const titles: string[] = [];
  each(({ path, html, ids }) => {
    expect(html.match(/<h1/g), path).toHaveLength(1);
    expect([...new Set(ids)], path).toEqual(ids);
    titles.push(/<title>(.+)<\/title>/.exec(html)?.[1] ?? "");
  });
  expect(new Set(titles).size).toBe(titles.length);
});

test("a page with its style is small", () => {
  each(({ path, html }) => expect(html.length, path).toBeLessThan(path.startsWith("source/") ? 2_000_000 : 400_000));
});
