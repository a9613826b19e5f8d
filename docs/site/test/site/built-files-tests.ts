import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, test } from "vitest";
import { PAGES } from "../../pages.js";

/** A page of the built site. */
interface BuiltPage {
  /** Its folder, with a slash at the end; empty for the first page. */
  readonly path: string;
  readonly html: string;
  readonly ids: readonly string[];
  /** The addresses that it links to and loads, as written. */
  readonly links: readonly string[];
}

/** What a build of the site wrote. */
export interface BuiltSite {
  /** The paths of all files, in the site's folder. */
  readonly files: ReadonlySet<string>;
  /** By their path. */
  readonly pages: ReadonlyMap<string, BuiltPage>;
}

export function readBuiltSite(folder: string): BuiltSite {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = new Set(entries.map(({ parentPath, name }) => posix.join(parentPath, name).slice(folder.length + 1)));
  const indexes = [...files].filter((file) => file.endsWith("index.html"));
  return { files, pages: new Map(indexes.map((file) => readPage(folder, file))) };
}

function readPage(folder: string, file: string): [string, BuiltPage] {
  const html = readFileSync(join(folder, file), "utf8");
  const all = (pattern: RegExp) => [...html.matchAll(pattern)].map(([, value]) => value ?? "");
  const path = file.slice(0, -"index.html".length);
  return [path, { path, html, ids: all(/\sid="([^"]+)"/g), links: all(/\s(?:href|src)="([^"]*)"/g) }];
}

/** Tests the files of the built site. */
export function builtSiteTests(site: () => BuiltSite): void {
  const each = (check: (page: BuiltPage) => void) => {
    expect(site().pages.size).toBeGreaterThan(PAGES.length);
    for (const page of site().pages.values()) check(page);
  };

  test("has every page that navigation names, and navigation on every page", () => {
    for (const { path } of PAGES) expect([...site().pages.keys()]).toContain(path);
    each(({ path, html }) => {
      const [navigation = ""] = /<nav class="nav" id="VPSidebarNav"[\s\S]*?<\/nav>/.exec(html) ?? [];
      const shown = [...navigation.matchAll(/href="([^"]+)"/g)].map(([, href]) => posix.join("/", path, href ?? ""));
      expect(shown).toEqual(PAGES.map((page) => posix.join("/", page.path)));
    });
  });

  test("links only to its own files, to anchors that are there, and to the operator above it", () => {
    let checked = 0;
    each(({ path, links }) => {
      const root = posix.relative(`/${path}`, "/") || ".";
      for (const link of links) {
        if (/^[a-z]+:/.test(link)) {
          expect(new URL(link).protocol, `${path}: ${link}`).toMatch(/^(https|mailto):$/);
          continue;
        }
        if ([`${root}/../`, `${root}/../docs/`].includes(link)) continue;
        // A site is served from wherever its host likes.
        expect(link.startsWith("/"), `${path}: ${link}`).toBe(false);
        const [file = "", anchor] = link.split("#");
        const to = file === "" ? path : posix.join(path, file).replace(/^\.\/?$/, "");
        const page = site().pages.get(to);
        expect(page !== undefined || site().files.has(to), `${path}: ${link}`).toBe(true);
        if (anchor) expect(page?.ids, `${path}: ${link}`).toContain(decodeURIComponent(anchor));
        checked++;
      }
    });
    expect(checked).toBeGreaterThan(1_000);
  });

  test("has no inline scripts or styles", () => {
    each(({ path, html }) => {
      const tags = html.match(/<[a-z][^<>]*>/g) ?? [];
      for (const tag of tags) expect(tag, path).not.toMatch(/^<(?:style|iframe)|\s(?:style|on[a-z]+)=|src="https?:/);
      const scripts = [...html.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)];
      expect(scripts.length).toBeGreaterThan(1);
      for (const [, inner] of scripts) expect(inner, path).toBe("");
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

  test("leaves out comments, and renders what looks like HTML as text", () => {
    each(({ path, html }) => expect(html, path).not.toContain("<!-- not run"));
    expect(site().pages.get("reference/configuration/")?.html).toMatch(/&lt;\w+&gt;/);
  });

  test("has a .gz beside every page", () => {
    each(({ path }) => expect([...site().files]).toContain(`${path}index.html.gz`));
    expect([...site().files]).toContain("404.html.gz");
  });
}
