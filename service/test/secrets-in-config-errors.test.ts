import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { readCommand } from "@dataset-oracle/service/process/arguments";
import { describe, expect, test } from "vitest";

describe("a key in the wrong place", () => {
  const KEY = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
  const messageOf = (action: () => unknown): string => {
    try {
      action();
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error("Nothing was refused.");
  };

  test("is not repeated: as an argument", () => {
    for (const key of [KEY, `0x${KEY}`, `--${KEY}`]) {
      expect(messageOf(() => readCommand([key], "Usage"))).not.toContain(KEY);
    }
    expect(messageOf(() => readCommand([`--${KEY}`], "Usage"))).toContain("<64 hex digits>");
    expect(messageOf(() => readCommand(["a password"], "Usage"))).toBe(
      "An argument belongs to no option. Write each value after its option.\n\nUsage",
    );
  });
});

test.each([
  ["https://rpc.example/v3/token", "https://rpc.example/..."],
  ["http://user:word@127.0.0.1:8545/?key=token", "http://127.0.0.1:8545/..."],
  ["http:/127.0.0.1/token", "http:/127.0.0.1/..."],
  ["https://rpc.example", "https://rpc.example"],
  ["https://user:word@rpc.example", "https://rpc.example"],
  ["http://127.0.0.1:8080/", "http://127.0.0.1:8080/"],
])("a ConfigError repeats no token: %s", (url, shown) => {
  expect(new ConfigError(`No: "${url}", ${url} here.`).message).toBe(`No: "${shown}", ${shown} here.`);
});
