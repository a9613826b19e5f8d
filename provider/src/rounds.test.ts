import { describe, expect, it } from "vitest";
import { Rounds } from "./rounds.js";

const answer = (text: string) => async () => text;

describe("the memory of rounds", () => {
  it("gives back the same work, under way or done", async () => {
    const rounds = new Rounds<string>(10, 0n);
    const begun = rounds.begin(5n, "a", 0n, answer("first"));
    expect(rounds.recall(5n, "a")).toBe(begun);
    expect(await begun).toBe("first");
    expect(rounds.recall(5n, "a")).toBe(begun);
  });

  it("keeps data points and rounds apart", () => {
    const rounds = new Rounds<string>(10, 0n);
    rounds.begin(5n, "a", 0n, answer("x"));
    expect(rounds.recall(5n, "b")).toBeUndefined();
    expect(rounds.recall(6n, "a")).toBeUndefined();
  });

  it("never begins the same work twice", () => {
    const rounds = new Rounds<string>(10, 0n);
    rounds.begin(5n, "a", 0n, answer("x"));
    expect(() => rounds.begin(5n, "a", 0n, answer("y"))).toThrow("may have been signed already");
  });

  it("forgets work that failed, so that it can be tried again", async () => {
    const rounds = new Rounds<string>(1, 0n);
    const failing = rounds.begin(5n, "a", 0n, async () => {
      throw new Error("no value");
    });
    await expect(failing).rejects.toThrow("no value");
    expect(rounds.recall(5n, "a")).toBeUndefined();
    expect(await rounds.begin(5n, "a", 0n, answer("second"))).toBe("second");
  });

  it("begins nothing when it is full of rounds that can still be signed", () => {
    const rounds = new Rounds<string>(2, 0n);
    rounds.begin(5n, "a", 5n, answer("x"));
    rounds.begin(6n, "a", 5n, answer("x"));
    let isStarted = false;
    const refused = rounds.begin(7n, "a", 5n, async () => {
      isStarted = true;
      return "y";
    });
    expect(refused).toBeNull();
    expect(isStarted).toBe(false);
    expect(rounds.recall(5n, "a")).toBeDefined();
    expect(rounds.forgottenThrough).toBe(0n);
  });

  it("gives up its oldest round when it is full, and from then on counts it and all before as forgotten", () => {
    const rounds = new Rounds<string>(3, 0n);
    rounds.begin(8n, "a", 0n, answer("x"));
    rounds.begin(5n, "a", 0n, answer("x"));
    rounds.begin(5n, "b", 0n, answer("x"));
    expect(rounds.begin(9n, "a", 6n, answer("x"))).not.toBeNull();
    expect(rounds.recall(5n, "a")).toBeUndefined();
    expect(rounds.recall(8n, "a")).toBeDefined();
    expect(rounds.forgottenThrough).toBe(5n);
    for (const round of [4n, 5n]) {
      expect(() => rounds.begin(round, "a", 0n, answer("other"))).toThrow("may have been signed already");
    }
  });

  it("is not shaken by work that fails after its round was given up", async () => {
    const rounds = new Rounds<string>(1, 0n);
    let fail: (reason: Error) => void = () => {};
    const failing = rounds.begin(
      5n,
      "a",
      0n,
      () =>
        new Promise<string>((_, reject) => {
          fail = reject;
        }),
    );
    rounds.begin(9n, "a", 6n, answer("x"));
    fail(new Error("late"));
    await expect(failing).rejects.toThrow("late");
    expect(rounds.recall(9n, "a")).toBeDefined();
    expect(rounds.begin(10n, "a", 6n, answer("y"))).toBeNull();
  });
});
