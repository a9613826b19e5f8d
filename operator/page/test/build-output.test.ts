import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { expect, test } from "vitest";

const BUILT = join(ROOT, "operator/page/dist");
const FILES = readdirSync(BUILT, { recursive: true, encoding: "utf8" }).filter((name) => {
  return statSync(join(BUILT, name)).isFile() && !name.endsWith(".gz");
});
const read = (name: string) => readFileSync(join(BUILT, name));
const zipped = (names: readonly string[]) => names.reduce((sum, name) => sum + gzipSync(read(name)).length, 0);

test("the whole page weighs less than 300 KB compressed", () => {
  expect(FILES.length).toBeGreaterThan(3);
  expect(zipped(FILES)).toBeLessThan(300_000);
});

test("the files of the first paint weigh at most 57 KB compressed", () => {
  const html = read("index.html").toString();
  const named = FILES.filter((name) => name === "index.html" || html.includes(name));
  expect(named.length).toBeGreaterThan(2);
  expect(zipped(named)).toBeLessThanOrEqual(57_000);
});

test("every file except index.html has a hash in its name, and none is a source map", () => {
  for (const name of FILES) expect(name).toMatch(/^(?:index\.html|assets\/[\w-]+-[\w-]{8}\.(?:js|css|svg))$/);
});

test("nothing is inline, and nothing comes from another origin", () => {
  const html = read("index.html").toString();
  expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
  for (const [, url] of html.matchAll(/(?:src|href)="([^"]+)"/g)) expect(url).toMatch(/^\.\/assets\//);
  for (const name of FILES.filter((file) => file.endsWith(".css"))) {
    expect(read(name).toString()).not.toMatch(/url\(["']?(?!data:)|@import/);
  }
});
