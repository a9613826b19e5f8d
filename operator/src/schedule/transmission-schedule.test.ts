import fc from "fast-check";
import { type Address, type Hex, numberToHex } from "viem";
import { describe, expect, test } from "vitest";
import vectors from "../../../protocol/vectors/schedule.json" with { type: "json" };
import { roundStartMs } from "./beat.js";
import {
  accusationWaitMs,
  heartbeatFault,
  type Role,
  type ScheduleSettings,
  STARTS_PER_BEAT,
  sharedLeadSeconds,
} from "./cadence.js";
import { Ranking, rankMembers } from "./rank.js";
import { type Gather, type Held, INITIAL_STATE, type ScheduleStep, step } from "./transmission-schedule.js";

const BEAT = 5n;
const STAGE_MS = 3_500;
const ROUND = 1_767_323_040n;
const START_MS = roundStartMs(ROUND);
const POLICY = { heartbeatSeconds: 60, deviationBps: 50, minIntervalSeconds: 10 };
const DATASET = numberToHex(0xda7a, { size: 20 });
const MEMBERS = [1, 2, 3, 4].map((i) => numberToHex(i, { size: 20 }));
const keyOf = (i: number): Hex => numberToHex(i, { size: 32 });
const ALL: ReadonlySet<Address> = new Set(MEMBERS);
const RANKING = new Ranking(DATASET, MEMBERS);
/** Due at the beat of `ROUND`: the lead is 10.5 s. */
const OLD = ROUND - 50n;
const ORDER = RANKING.orderOf(keyOf(1), OLD);
const LEADER = ORDER[0] as Address;
const SECOND = ORDER[1] as Address;
const LAST = ORDER[3] as Address;

/** One operator, step by step. */
class Run {
  step: ScheduleStep = { state: INITIAL_STATE, gather: [], send: [], wakeAtMs: 0 };
  block = 100n;
  learnedLeadSeconds = 4;
  readonly underway = new Set<Hex>();
  readonly held = new Map<Hex, Held>();
  readonly settings: ScheduleSettings;

  constructor(
    role: Role,
    readonly stored: Map<Hex, bigint>,
    settings: Partial<ScheduleSettings> = {},
  ) {
    this.settings = { ranking: RANKING, role, beatSeconds: Number(BEAT), stageMs: STAGE_MS, ...settings };
  }

  /** Takes a step, by default with the chain in sight. */
  at(nowMs: number, more: Partial<Parameters<typeof step>[3]> = {}): ScheduleStep {
    const keys = [...this.stored.keys()].map((key) => ({ key, policy: POLICY }));
    const chain = { blockNumber: this.block, storedRounds: new Map(this.stored) };
    const observed = {
      nowMs,
      monotonicMs: nowMs,
      chain,
      gathered: null,
      underway: this.underway,
      held: this.held,
      learnedLeadSeconds: this.learnedLeadSeconds,
    };
    this.step = step(this.settings, keys, this.step.state, { ...observed, ...more });
    return this.step;
  }

  /** Takes a step with a new block in sight. */
  inNextBlockAt(nowMs: number): ScheduleStep {
    this.block++;
    return this.at(nowMs);
  }

  /** Ends all gatherings that were asked for, which have to be the last step's. Returns the last of the steps. */
  gathered(nowMs: number, arrived: ReadonlySet<Address> | null = ALL, moved: readonly Hex[] = []): ScheduleStep {
    const { gather } = this.step;
    if (gather.length === 0) throw new Error("The last step gathers nothing.");
    for (const one of gather) this.at(nowMs, { gathered: answerTo(one, arrived, moved) });
    return this.step;
  }

  /** The keys of all gatherings of the last step. */
  get asked(): readonly Hex[] {
    return this.step.gather.flatMap(({ keys }) => keys);
  }

  /** Takes the steps that are due before a time, with a new block before each. Returns when the first one sends. */
  untilSent(untilMs: number, arrived = ALL): number | null {
    for (let nowMs = this.step.wakeAtMs; nowMs < untilMs; nowMs = this.step.wakeAtMs) {
      if (this.inNextBlockAt(nowMs).send.length > 0) return nowMs;
      if (this.step.gather.length > 0 && this.gathered(nowMs, arrived).send.length > 0) return nowMs;
    }
    return null;
  }
}

/** Returns how long a sender waits, with a new block in every stage and the same reports at every beat. */
function waitOf(role: Role, storedRound: bigint, arrived: ReadonlySet<Address>, settings: Partial<ScheduleSettings>) {
  const due = storedRound + 60n;
  const startMs = roundStartMs(due + BEAT - (due % BEAT));
  const run = new Run(role, oneKey(storedRound), settings);
  run.at(startMs);
  if (run.gathered(startMs, arrived).send.length > 0) return 0;
  return (run.untilSent(startMs + 3_600_000, arrived) ?? Number.NaN) - startMs;
}

/** A ranking that has one order for everything. */
class OneOrder extends Ranking {
  override orderOf() {
    return this.members;
  }
}

function answerTo(gather: Gather, arrived: ReadonlySet<Address> | null, moved: readonly Hex[]) {
  const keys = arrived === null ? [] : gather.keys;
  const results = keys.map((key) => [key, { arrived: arrived ?? ALL, hasMoved: moved.includes(key) }] as const);
  return { gather, results: new Map(results) };
}

const oneKey = (storedRound = OLD) => new Map([[keyOf(1), storedRound]]);
const sending = (round: bigint, ...keys: readonly Hex[]) => [{ round, keys }];

/** An operator that has gathered at the first beat. */
function begun(role: Role, stored = oneKey()): Run {
  const run = new Run(role, stored);
  run.at(START_MS);
  run.gathered(START_MS + 300);
  return run;
}

describe("published vectors", () => {
  test.each(vectors.turns)("$name", ({ dataset, keyHash, storedRound, members, stageMs, arrived, ...expected }) => {
    const ranking = new Ranking(dataset as Address, members as Address[]);
    const order = ranking.orderOf(keyHash as Hex, BigInt(storedRound));
    const settings = { ranking: new OneOrder(dataset as Address, order), stageMs };
    const wait = (role: Role) => waitOf(role, BigInt(storedRound), new Set(arrived as Address[]), settings);
    expect(order.map(wait)).toEqual(expected.waitsMs);
    expect(wait("volunteer")).toBe(expected.volunteerWaitMs);
    expect(wait("alone")).toBe(0);
  });
});

describe("due", () => {
  test("a key is gathered at the first beat at which its heartbeat ends within the lead", () => {
    expect(sharedLeadSeconds({ beatSeconds: 5, stageMs: STAGE_MS })).toBe(10.5);
    const run = new Run(LEADER, oneKey());
    expect(run.at(START_MS - 5_000).gather).toMatchObject([{ round: ROUND - BEAT, keys: [keyOf(1)], awaited: ALL }]);
    expect(run.step.state.due.size).toBe(0);
    expect(run.step.wakeAtMs).toBe(START_MS);
    expect(run.at(START_MS).gather).toMatchObject([{ round: ROUND, keys: [keyOf(1)], awaited: new Set() }]);
    expect([...run.step.state.due.keys()]).toEqual([keyOf(1)]);
  });

  test("a value that has moved is due at once, and stays due when it moves back", () => {
    const second = RANKING.orderOf(keyOf(1), ROUND - 20n)[1] as Address;
    const run = new Run(second, oneKey(ROUND - 20n));
    expect(run.at(START_MS).state.due.size).toBe(0);
    expect(run.gathered(START_MS + 300, ALL, [keyOf(1)]).wakeAtMs).toBe(START_MS + 300 + STAGE_MS);
    expect(run.inNextBlockAt(START_MS + 300 + STAGE_MS).send).toEqual(sending(ROUND, keyOf(1)));
    expect(run.at(START_MS + 5_000).state.due.size).toBe(1);
    expect(run.gathered(START_MS + 5_300).state.due.size).toBe(1);
  });

  test("a value that has not moved is not due, nor one that was stored while its move was noticed", () => {
    const unmoved = begun("alone", oneKey(ROUND - 20n));
    expect([unmoved.step.send, unmoved.step.state.due.size]).toEqual([[], 0]);
    const run = new Run("alone", oneKey(ROUND - 20n));
    run.at(START_MS);
    run.stored.set(keyOf(1), ROUND - 1n);
    expect(run.gathered(START_MS + 300, ALL, [keyOf(1)]).send).toEqual([]);
  });

  test("younger than its minimum interval, a key is not asked for", () => {
    expect(new Run(LEADER, oneKey(ROUND - 5n)).at(START_MS).gather).toEqual([]);
  });

  test("a reorganization that takes a stored round back changes the rank, and the key is due again", () => {
    const run = new Run(LEADER, oneKey());
    run.at(START_MS);
    run.stored.set(keyOf(1), OLD - 60n);
    // Between beats nothing is gathered.
    expect(run.gathered(START_MS + 300)).toMatchObject({ send: [], gather: [] });
    run.at(START_MS + 5_000);
    expect(run.asked).toEqual([keyOf(1)]);
    expect(run.step.state.due.get(keyOf(1))?.storedRound).toBe(OLD - 60n);
  });

  test("a heartbeat below twice the lead is refused with the reason", () => {
    const settings = { role: LEADER, beatSeconds: 5, stageMs: 13_500 };
    expect(heartbeatFault({ ...POLICY, heartbeatSeconds: 41 }, settings)).toBeNull();
    expect(heartbeatFault({ ...POLICY, heartbeatSeconds: 40 }, settings)).toMatch(
      /^heartbeatSeconds is 40, below 41: .* a beat of 5 s, a stage of 13.5 s and 2 s/,
    );
  });
});

describe("gathering", () => {
  test("begins in the first second of a beat, or not at all", () => {
    const run = new Run(LEADER, oneKey());
    expect(run.at(START_MS + 1_000)).toMatchObject({ gather: [], wakeAtMs: START_MS + 5_000 });
    expect(new Run(LEADER, oneKey()).at(START_MS + 999).gather).toMatchObject([{ keys: [keyOf(1)] }]);
  });

  test("happens once in a beat, and again at the next while the key is due", () => {
    const run = new Run(LAST, oneKey());
    run.at(START_MS);
    expect(run.gathered(START_MS + 300).gather).toEqual([]);
    expect(run.at(START_MS + 600).gather).toEqual([]);
    expect(run.at(START_MS + 5_000).gather).toMatchObject([{ round: ROUND + BEAT, keys: [keyOf(1)] }]);
  });

  test("names whose reports are waited for: the members of a better rank", () => {
    const awaited = (role: Role) => new Run(role, oneKey()).at(START_MS).gather[0]?.awaited;
    expect(awaited(LEADER)).toEqual(new Set());
    expect(awaited(LAST)).toEqual(new Set(ORDER.slice(0, 3)));
  });

  test("does not wait for the reports of keys that are only watched", () => {
    const run = new Run(LEADER, new Map([...oneKey(), [keyOf(2), ROUND - 20n]]));
    const [due, watched] = run.at(START_MS).gather as [Gather, Gather];
    expect([due.keys, watched.keys]).toEqual([[keyOf(1)], [keyOf(2)]]);
    expect(run.at(START_MS + 300, { gathered: answerTo(due, ALL, []) }).send).toEqual(sending(ROUND, keyOf(1)));
    run.at(START_MS + 900, { gathered: answerTo(watched, null, []) });
    expect([...run.step.state.due.keys()]).toEqual([keyOf(1)]);
  });

  test("that ends after a later one changes nothing", () => {
    const run = new Run(LEADER, oneKey());
    const [early] = run.at(START_MS).gather as [Gather];
    run.at(START_MS + 5_000);
    expect(run.gathered(START_MS + 5_300).send).toEqual(sending(ROUND + BEAT, keyOf(1)));
    for (const arrived of [ALL, null]) {
      expect(run.at(START_MS + 5_400, { gathered: answerTo(early, arrived, []) }).send).toEqual([]);
      expect(run.step.state.due.get(keyOf(1))?.turn?.round).toBe(ROUND + BEAT);
    }
  });

  test("keeps together what was stored together", () => {
    const stored = new Map([1, 2, 3, 4].map((i) => [keyOf(i), i % 2 === 0 ? OLD : OLD - 5n]));
    const run = new Run("volunteer", stored);
    const keys = [keyOf(1), keyOf(3), keyOf(2), keyOf(4)];
    expect(run.at(START_MS).gather).toMatchObject([{ keys }]);
  });
});

describe("turns", () => {
  test("the reports of one round that come in two gatherings add up", () => {
    const run = new Run(SECOND, oneKey());
    const [gather] = run.at(START_MS).gather as [Gather];
    run.at(START_MS + 300, { gathered: answerTo(gather, new Set(ORDER.slice(1)), []) });
    expect(run.step.wakeAtMs).toBe(START_MS + 300 + STAGE_MS / 4);
    run.at(START_MS + 400, { gathered: answerTo(gather, new Set([LEADER]), []) });
    expect(run.step.wakeAtMs).toBe(START_MS + 300 + STAGE_MS);
  });

  test("a report that got lost at a later beat does not shorten the wait", () => {
    const run = begun(LAST);
    run.inNextBlockAt(START_MS + 300 + STAGE_MS);
    run.at(START_MS + 5_000);
    run.block++;
    expect(run.gathered(START_MS + 5_300, new Set(ORDER.slice(2))).wakeAtMs).toBe(START_MS + 300 + 2 * STAGE_MS);
  });

  test("a stage in which no new block was seen is waited for once more, and not a third time", () => {
    const run = new Run(SECOND, oneKey());
    run.at(START_MS);
    run.gathered(START_MS);
    expect(run.at(START_MS + STAGE_MS)).toMatchObject({ send: [], wakeAtMs: START_MS + 5_000 });
    run.at(START_MS + 5_000);
    expect(run.gathered(START_MS + 5_300)).toMatchObject({ send: [], wakeAtMs: START_MS + 2 * STAGE_MS });
    expect(run.at(START_MS + 2 * STAGE_MS).send).toEqual(sending(ROUND + BEAT, keyOf(1)));
  });

  test("without a quorum nothing is sent, and the wait starts anew", () => {
    const run = begun(SECOND);
    run.at(START_MS + 5_000);
    expect(run.gathered(START_MS + 5_500, null).send).toEqual([]);
    expect(run.inNextBlockAt(START_MS + 9_000).send).toEqual([]);
    run.at(START_MS + 10_000);
    expect(run.gathered(START_MS + 10_300).wakeAtMs).toBe(START_MS + 10_300 + STAGE_MS);
  });

  test("while the chain cannot be read nothing is gathered or sent, and the wait starts anew", () => {
    const run = begun(SECOND);
    const blind = run.at(START_MS + 300 + STAGE_MS, { chain: null });
    expect(blind).toMatchObject({ gather: [], send: [], wakeAtMs: START_MS + 5_000 });
    expect(blind.state.due.get(keyOf(1))).toMatchObject({ storedRound: OLD, turn: null });
    expect(run.inNextBlockAt(START_MS + 4_500).send).toEqual([]);
    run.at(START_MS + 5_000);
    expect(run.gathered(START_MS + 5_300).wakeAtMs).toBe(START_MS + 5_300 + STAGE_MS);
  });

  test("keys stored together are sent together; a key that another round ranks differently is not", () => {
    const older = [5n, 10n, 15n, 20n, 25n, 30n].map((age) => OLD - age);
    const otherRound = older.find((round) => RANKING.orderOf(keyOf(3), round)[0] !== LEADER) as bigint;
    const run = new Run(LEADER, new Map([...oneKey(), [keyOf(2), OLD], [keyOf(3), otherRound]]));
    run.at(START_MS);
    expect(run.gathered(START_MS + 300).send).toEqual(sending(ROUND, keyOf(1), keyOf(2)));
  });

  test("with any f members that never send, another's turn comes within f stages, whosever reports arrived", () => {
    const cases = fc.integer({ min: 4, max: 31 }).chain((size) => {
      const members = Array.from({ length: size }, (_, i) => numberToHex(i + 1, { size: 20 }));
      const faults = fc.subarray(members, { maxLength: Math.floor((size - 1) / 3) });
      return fc.record({ members: fc.constant(members), silent: faults, arrived: fc.subarray(members) });
    });
    fc.assert(
      fc.property(cases, fc.bigInt({ min: 1n, max: ROUND }), ({ members, silent, arrived }, round) => {
        const ranking = new Ranking(DATASET, members);
        const first = rankMembers(DATASET, { round }, members).find((member) => !silent.includes(member)) as Address;
        const wait = waitOf(first, round, new Set(arrived), { ranking });
        expect(wait).toBeLessThanOrEqual(silent.length * STAGE_MS);
      }),
    );
  });
});

describe("another round that is stored", () => {
  /** Due, as are the forty rounds after it. */
  const OVERDUE = ROUND - 100n;
  /** The smallest round after another that gives a member the best rank. */
  const nextBestOf = (member: Address, after: bigint): bigint => {
    for (let round = after + 1n; ; round++) if (RANKING.orderOf(keyOf(1), round)[0] === member) return round;
  };

  test("that leaves the key due does not begin the waits anew, whenever it is stored", () => {
    const [leader, second] = RANKING.orderOf(keyOf(1), OVERDUE) as [Address, Address];
    const newer = nextBestOf(leader, OVERDUE);
    const others = RANKING.orderOf(keyOf(1), newer).indexOf(second) - 1;
    for (let storedAfterMs = 0; storedAfterMs < 300 + STAGE_MS; storedAfterMs += 100) {
      const run = new Run(second, oneKey(OVERDUE));
      run.at(START_MS);
      const [gather] = run.step.gather as [Gather];
      const isEarly = storedAfterMs <= 300;
      if (isEarly) run.stored.set(keyOf(1), newer);
      run.at(START_MS + 300, { gathered: answerTo(gather, ALL, []) });
      if (!isEarly) {
        run.stored.set(keyOf(1), newer);
        run.inNextBlockAt(START_MS + storedAfterMs);
      }
      run.step = { ...run.step, wakeAtMs: START_MS + 300 + STAGE_MS - 1 };
      expect(run.untilSent(START_MS + 60_000)).toBe(START_MS + 300 + (others + 1) * STAGE_MS);
    }
  });

  test("however often, some honest member's turn comes within f stages, and none is waited for twice", () => {
    const cases = fc.constantFrom(4, 13, 31).chain((size) => {
      const members = Array.from({ length: size }, (_, i) => numberToHex(i + 1, { size: 20 }));
      const faults = fc.subarray(members, { minLength: 1, maxLength: Math.floor((size - 1) / 3) });
      const rounds = fc.array(fc.bigInt({ min: 1n, max: 39n }), { maxLength: 30 });
      return fc.record({
        members: fc.constant(members),
        faults,
        rounds,
        everyMs: fc.integer({ min: 100, max: 5_000 }),
      });
    });
    fc.assert(
      fc.property(cases, ({ members, faults, rounds, everyMs }) => {
        const ranking = new Ranking(DATASET, members);
        const stored = oneKey(OVERDUE);
        const honest = members.filter((member) => !faults.includes(member));
        const runs = honest.map((sender) => new Run(sender, stored, { ranking }));
        const later = [...new Set(rounds)].sort((a, b) => Number(a - b)).values();
        const arrived = new Set(members);
        const startMs = START_MS + 300;
        for (const run of runs) {
          run.at(START_MS);
          run.gathered(startMs, arrived);
        }
        let [sentAt, block] = [runs.some(({ step }) => step.send.length > 0) ? startMs : null, 100n];
        for (let nowMs = startMs; sentAt === null; nowMs += 100) {
          if ((nowMs - startMs) % (everyMs - (everyMs % 100)) === 0) {
            const round = later.next().value;
            if (round !== undefined) stored.set(keyOf(1), OVERDUE + round);
          }
          block++;
          for (const run of runs) {
            run.block = block;
            run.at(nowMs);
            if (run.step.gather.length > 0) run.gathered(nowMs, arrived);
            if (run.step.send.length > 0) sentAt = nowMs;
          }
        }
        // The waits are looked at every 100 ms.
        expect(sentAt - startMs).toBeLessThanOrEqual(faults.length * STAGE_MS + 100);
      }),
    );
  });

  test("that is older than a move keeps what was waited, until a gathering shows whether the value has moved from it", () => {
    for (const moved of [[keyOf(1)], []]) {
      const second = RANKING.orderOf(keyOf(1), ROUND - 20n)[1] as Address;
      const first = RANKING.orderOf(keyOf(1), ROUND - 20n)[0] as Address;
      const run = new Run(second, oneKey(ROUND - 20n));
      run.at(START_MS);
      run.gathered(START_MS + 300, ALL, [keyOf(1)]);
      run.stored.set(keyOf(1), nextBestOf(first, ROUND - 20n));
      run.inNextBlockAt(START_MS + 400);
      expect(run.inNextBlockAt(START_MS + 300 + STAGE_MS).send).toEqual([]);
      run.at(START_MS + 5_000);
      expect(run.asked).toEqual([keyOf(1)]);
      run.gathered(START_MS + 5_300, ALL, moved);
      expect(run.step.state.due.size).toBe(moved.length);
      expect(run.step.state.due.get(keyOf(1))?.turn?.waitedFor ?? 1).toBeGreaterThan(0);
    }
  });

  test("that was gathered since the value moved ends the turn", () => {
    const second = RANKING.orderOf(keyOf(1), ROUND - 20n)[1] as Address;
    const run = new Run(second, oneKey(ROUND - 20n));
    run.at(START_MS);
    run.gathered(START_MS + 300, ALL, [keyOf(1)]);
    run.stored.set(keyOf(1), ROUND);
    run.at(START_MS + 12_100);
    expect(run.step.state.due.size).toBe(0);
  });

  test("is not sent again, nor an older one", () => {
    const run = begun(SECOND, oneKey(ROUND - 60n));
    run.stored.set(keyOf(1), ROUND);
    expect(run.inNextBlockAt(START_MS + 300 + STAGE_MS)).toMatchObject({ send: [], gather: [] });
  });
});

describe("what is held because what it needs does not work", () => {
  const SOME = [1, 2, 3].map(keyOf);
  const heldBy = (run: Run, by: string, mayTry: boolean) => {
    for (const key of SOME) run.held.set(key, { by, mayTry });
  };
  const three = () => new Map(SOME.map((key) => [key, OLD]));

  test("is gathered, and sent when it works again", () => {
    const run = new Run(LEADER, three());
    heldBy(run, "gas", false);
    run.at(START_MS);
    expect(run.asked).toEqual(SOME);
    expect(run.gathered(START_MS + 300).send).toEqual([]);
    run.held.clear();
    expect(run.at(START_MS + 400).send).toEqual(sending(ROUND, ...SOME));
  });

  test("is tried by one key whose turn has come, and by another the next time", () => {
    const run = new Run(LEADER, three());
    heldBy(run, "gas", true);
    run.held.set(keyOf(3), { by: "sender", mayTry: true });
    run.at(START_MS);
    expect(run.gathered(START_MS + 300).send).toEqual(sending(ROUND, keyOf(1), keyOf(3)));
    heldBy(run, "gas", false);
    run.at(START_MS + 5_000);
    expect(run.gathered(START_MS + 5_300).send).toEqual([]);
    heldBy(run, "gas", true);
    expect(run.at(START_MS + 6_000).send).toEqual(sending(ROUND + BEAT, keyOf(2)));
  });
});

test("a clock that was set back an hour holds nothing up, alone and in turns", () => {
  for (const role of ["alone", LEADER]) {
    const run = new Run(role as Role, oneKey(OLD));
    run.at(START_MS + 3_600_000);
    run.gathered(START_MS + 3_600_300);
    run.at(START_MS);
    expect(run.asked).toEqual([keyOf(1)]);
    expect(run.gathered(START_MS + 300).send).toEqual(sending(ROUND, keyOf(1)));
    const watched = new Run(role as Role, oneKey(ROUND + 3_580n));
    watched.at(START_MS + 3_600_000);
    watched.stored.set(keyOf(1), ROUND - 20n);
    watched.at(START_MS + 5_000);
    expect(watched.asked).toEqual([keyOf(1)]);
  }
});

test("a clock that is set during a stage neither ends it nor makes it longer", () => {
  const after = (elapsedMs: number, setMs: number) => {
    const run = begun(SECOND);
    run.block++;
    const monotonicMs = START_MS + 300 + elapsedMs;
    return run.at(monotonicMs + setMs, { monotonicMs });
  };
  expect(after(1_000, 3_000)).toMatchObject({ send: [], wakeAtMs: START_MS + 300 + 1_700 });
  expect(after(STAGE_MS - 1, 1_000).send).toEqual([]);
  expect(after(STAGE_MS, -3_000).send).toEqual(sending(ROUND, keyOf(1)));
});

test("reports of a time that the clock showed before it was set back are not sent", () => {
  for (const role of ["alone", LEADER] as const) {
    const run = new Run(role, oneKey(OLD));
    run.at(START_MS + 3_600_000);
    expect(run.gathered(START_MS).send).toEqual([]);
    expect(run.gathered(START_MS + 300).send).toEqual(sending(ROUND, keyOf(1)));
  }
});

describe("its own transactions", () => {
  test("what it has on its way is left to its queue", () => {
    const run = begun(LEADER);
    run.underway.add(keyOf(1));
    for (const nowMs of [300, 600, 5_000, 10_000]) {
      expect(run.at(START_MS + nowMs)).toMatchObject({ gather: [], send: [] });
    }
  });

  test("what fails while its reports are gathered is not sent", () => {
    const run = new Run(LEADER, oneKey());
    run.at(START_MS);
    run.underway.add(keyOf(1));
    expect(run.gathered(START_MS + 300).send).toEqual([]);
  });

  test("what could not be sent is sent again with the reports of the next beat", () => {
    const run = begun(LEADER);
    run.underway.add(keyOf(1));
    run.at(START_MS + 400);
    run.underway.clear();
    expect(run.at(START_MS + 500).send).toEqual([]);
    run.at(START_MS + 5_000);
    expect(run.gathered(START_MS + 5_300).send).toEqual(sending(ROUND + BEAT, keyOf(1)));
  });

  test("a round of the beat before is sent", () => {
    const run = begun(ORDER[2] as Address);
    run.inNextBlockAt(START_MS + 300 + STAGE_MS);
    run.at(START_MS + 5_000);
    expect(run.inNextBlockAt(START_MS + 300 + 2 * STAGE_MS).send).toEqual(sending(ROUND, keyOf(1)));
  });

  test("a round that is two beats old is not sent", () => {
    const run = begun(SECOND);
    expect(run.inNextBlockAt(START_MS + 10_000).send).toEqual([]);
  });
});

describe("alone", () => {
  test("a key is sent by the lead that it learned, between beats too, and without waiting", () => {
    const run = new Run("alone", oneKey(ROUND - 50n));
    expect(run.at(START_MS)).toMatchObject({ wakeAtMs: START_MS + 4_000 });
    run.gathered(START_MS + 300);
    expect(run.at(START_MS + 4_000).gather).toMatchObject([{ round: ROUND + 4n, keys: [keyOf(1)] }]);
    expect(run.gathered(START_MS + 4_300).send).toEqual(sending(ROUND + 4n, keyOf(1)));
  });

  test("while the chain cannot be read it looks again at its next beat, and after one that was missed", () => {
    const run = new Run("alone", oneKey(ROUND - 20n));
    run.at(START_MS);
    expect(run.at(START_MS + 4_999, { chain: null }).wakeAtMs).toBe(START_MS + 5_000);
    expect(run.at(START_MS + 5_000, { chain: null }).wakeAtMs).toBe(START_MS + 10_000);
  });

  test("the next step is always later, however times are rounded", () => {
    const run = new Run("alone", oneKey(ROUND - 50n));
    for (let tenth = 0; tenth < 100; tenth++) {
      run.learnedLeadSeconds = 5 + tenth / 10;
      const nowMs = Number(ROUND - 50n) * 1_000 + 60_000 - run.learnedLeadSeconds * 1_000;
      expect(run.at(nowMs).wakeAtMs).toBeGreaterThan(nowMs);
    }
  });

  test("without a quorum it asks again after a beat", () => {
    const run = new Run("alone", oneKey());
    run.learnedLeadSeconds = 30;
    run.at(START_MS + 2_500);
    expect(run.gathered(START_MS + 4_500, null)).toMatchObject({ gather: [], send: [], wakeAtMs: START_MS + 7_000 });
    expect(run.at(START_MS + 7_000).gather).toMatchObject([{ round: ROUND + 7n, keys: [keyOf(1)] }]);
  });
});

describe("keys that were never stored", () => {
  const many = () => new Map(Array.from({ length: 30 }, (_, i) => [keyOf(i + 1), 0n]));

  test("few of them start at a beat; others follow at the next", () => {
    const run = new Run(LEADER, many());
    run.at(START_MS);
    const first = run.asked;
    expect(first).toHaveLength(STARTS_PER_BEAT);
    run.gathered(START_MS + 300);
    run.at(START_MS + 5_000);
    expect(run.asked).toHaveLength(2 * STARTS_PER_BEAT);
    expect(run.asked).toEqual(expect.arrayContaining([...first]));
  });

  test("those without a quorum make room for others", () => {
    const run = new Run(LEADER, many());
    run.at(START_MS);
    run.gathered(START_MS + 300, null);
    expect(run.at(START_MS + 5_000).gather).toHaveLength(STARTS_PER_BEAT);
  });

  test("an operator that is alone starts all of them", () => {
    expect(new Run("alone", many()).at(START_MS).gather).toHaveLength(30);
  });

  test("an operator that is alone has 32 of them on their way, and chooses others at the next beat", () => {
    const keys = Array.from({ length: 100 }, (_, i) => keyOf(i + 1));
    const run = new Run("alone", new Map(keys.map((key) => [key, 0n])));
    const asked = new Set<Hex>();
    for (let beat = 0; beat < 60; beat++) {
      run.at(START_MS + beat * 5_000);
      expect(run.asked).toHaveLength(32);
      for (const key of run.asked) asked.add(key);
      run.gathered(START_MS + beat * 5_000 + 300, null);
    }
    expect(asked.size).toBe(100);
    run.at(START_MS + 300_000);
    for (const key of run.asked.slice(0, 10)) run.underway.add(key);
    run.gathered(START_MS + 300_300, null);
    expect(run.at(START_MS + 305_000).gather).toHaveLength(22);
  });
});

test("members accuse a stage apart, in the order of the round; the accused has no turn", () => {
  const settings = { ranking: RANKING, stageMs: STAGE_MS };
  const [accused, ...others] = RANKING.orderOf(keyOf(1), ROUND) as [Address, ...Address[]];
  const waits = others.map((role) => accusationWaitMs({ ...settings, role }, accused, ROUND));
  expect(waits).toEqual([0, STAGE_MS, 2 * STAGE_MS]);
  expect(accusationWaitMs({ ...settings, role: "volunteer" }, accused, ROUND)).toBe(3 * STAGE_MS);
  expect(accusationWaitMs({ ...settings, role: "alone" }, accused, ROUND)).toBe(0);
});

test("members that see the same chain send one update: whoever comes later sees the block before its turn", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 400_000 }), fc.integer({ min: 0, max: 1_999 }), (beat, phaseMs) => {
      const storedRound = OLD - BEAT * BigInt(beat);
      const runs = MEMBERS.map((sender) => new Run(sender, oneKey(storedRound)));
      let minedAtMs = Number.POSITIVE_INFINITY;
      let sent = 0;
      for (const run of runs) {
        run.at(START_MS);
        run.gathered(START_MS + 300);
        if (run.step.send.length === 0) continue;
        sent++;
        minedAtMs = START_MS + 1_300 + phaseMs;
      }
      for (const run of runs.filter(({ step: { send } }) => send.length === 0)) {
        run.block++;
        if (run.step.wakeAtMs >= minedAtMs) run.stored.set(keyOf(1), ROUND);
        sent += run.at(run.step.wakeAtMs).send.length;
      }
      expect(sent).toBe(1);
    }),
  );
});
