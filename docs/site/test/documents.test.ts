import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { describe, expect, test } from "vitest";
import { DOCUMENTS } from "../../../devnet/test/code-blocks.js";
import { isExternal, linkedFile } from "../linked-file.js";
import { anchorsOf, imagesOf, linksOf } from "../links-images-and-anchors.js";
import { PAGES } from "../pages.js";

const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

test("every document of docs/ is in the site's navigation", () => {
  const documents = DOCUMENTS.filter((file) => file.startsWith("docs/"));
  expect(documents.length).toBeGreaterThan(10);
  for (const file of documents) expect(PAGES.map(({ source }) => source)).toContain(file);
});

describe.each(DOCUMENTS)("%s", (file) => {
  test("links only to what is there", () => {
    for (const image of imagesOf(read(file)))
      expect(existsSync(join(ROOT, linkedFile(file, image).file)), image).toBe(true);
    for (const link of linksOf(read(file))) {
      if (isExternal(link)) {
        expect(new URL(link).protocol, link).toMatch(/^(https|mailto):$/);
        continue;
      }
      const { file: to, anchor } = linkedFile(file, link);
      expect(existsSync(join(ROOT, to)), link).toBe(true);
      if (anchor !== "") expect(anchorsOf(read(to)), link).toContain(anchor.slice(1));
    }
  });
});

test("every document is reached from the README by links", () => {
  const reached = new Set(["README.md"]);
  for (const file of reached) {
    const linked = linksOf(read(file)).filter((link) => !isExternal(link));
    for (const to of linked.map((link) => linkedFile(file, link).file)) if (DOCUMENTS.includes(to)) reached.add(to);
  }
  expect(DOCUMENTS.filter((file) => !reached.has(file))).toEqual([]);
});

test("every npm script that a document names is there", () => {
  const packages = ["package.json", "examples/hardhat/package.json"].map((file) => JSON.parse(read(file)));
  const scripts = Object.assign({}, ...packages.map((one) => one.scripts));
  for (const file of DOCUMENTS) {
    for (const [command, name = ""] of read(file).matchAll(/npm run (?:-s |--silent )?([\w:-]+)/g)) {
      expect(scripts, `${file}: ${command}`).toHaveProperty([name]);
    }
  }
});

test("the map of CONTRIBUTING has every folder, and every path that it names is there", () => {
  const quoted = [...read("CONTRIBUTING.md").matchAll(/`([^`]+)`/g)].flatMap(([, text = ""]) => text.split(" "));
  const files = execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).trim().split("\n");
  const folders = new Set(files.filter((file) => file.includes("/")).map((file) => file.split("/")[0] ?? ""));
  for (const folder of folders) expect(quoted).toContain(folder);
  const paths = quoted.filter((text) => folders.has(text.split("/")[0] ?? "") && !text.includes("NAME"));
  expect(paths.length).toBeGreaterThan(folders.size);
  for (const path of paths) expect(existsSync(join(ROOT, path)), path).toBe(true);
});

test("the page of the financial dataset lists exactly its keys", () => {
  const deployment = JSON.parse(read("script/config/42.json"));
  const page = read("docs/datasets/financial.md");
  const listed = [...page.matchAll(/`(SPOTPX\/[A-Z-]+)`/g)].map(([, key]) => key);
  expect(listed).toEqual(deployment.financial.keys);
});
