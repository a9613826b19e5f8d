import { stringToHex } from "viem";
import { Ranking } from "../../dist/schedule/rank.js";
import type { Fault } from "./fault.js";
import { hashOf } from "./keys.js";
import { NODE_LIES } from "./lies.js";
import type { Random } from "./random.js";
import { DATASET, MUCH_ETHER, type World } from "./world.js";

const seconds = (random: Random, from: number, to: number) => Math.round(random.between(from, to)) * 1_000;

/** Sets fields of some things. @returns What sets them back. */
function set<T extends object>(all: readonly T[], fields: () => Partial<T>): () => void {
  const before = all.map((one) => {
    const changed = fields();
    const former = Object.fromEntries(Object.keys(changed).map((name) => [name, one[name as keyof T]]));
    Object.assign(one, changed);
    return () => Object.assign(one, former);
  });
  return () => {
    for (const restore of before) restore();
  };
}

/** A fault that lasts so many seconds. @param begin Returns what ends it. */
function passing(
  about: Pick<Fault<World>, "name" | "group" | "replacements" | "settings">,
  [from, to]: readonly [number, number],
  begin: (world: World, random: Random) => () => void,
): Fault<World> {
  return {
    ...about,
    begin(world, random) {
      const end = begin(world, random);
      return { forMs: seconds(random, from, to), end };
    },
  };
}

export const FAULTS: readonly Fault<World>[] = [
  passing({ name: "rpc-errors", group: "rpc", replacements: 0 }, [30, 120], ({ endpoints }, random) =>
    set(endpoints, () => ({ errorRate: random.between(0.05, 0.3) })),
  ),
  passing({ name: "rpc-silent", group: "rpc", replacements: null }, [20, 120], ({ endpoints }, random) =>
    set([random.pick(endpoints)], () => ({ isSilent: true })),
  ),
  {
    name: "rpc-outage",
    group: "rpc",
    replacements: 0,
    begin({ endpoints }, random) {
      const end = set(endpoints, () => ({ isDown: true }));
      // Beyond 300 s, what was sent before is too old to be stored.
      return { forMs: random.chance(0.3) ? seconds(random, 310, 400) : seconds(random, 10, 120), end };
    },
  },
  passing({ name: "rounds-expire", group: "rpc", replacements: 2 }, [340, 400], ({ chain, endpoints }) => {
    // What is sent now is not mined, and too old when the endpoints answer again.
    chain.takesNothing = true;
    let answer = () => {};
    const timer = setTimeout(() => {
      answer = set(endpoints, () => ({ isDown: true }));
    }, 20_000);
    return () => {
      clearTimeout(timer);
      answer();
      chain.takesNothing = false;
    };
  }),
  passing({ name: "rpc-lag", group: "rpc", replacements: 0 }, [5, 60], ({ endpoints }, random) =>
    set([random.pick(endpoints)], () => ({ isLagging: true })),
  ),
  passing({ name: "rpc-balancer", group: "rpc", replacements: 0 }, [60, 240], ({ endpoints }, random) => {
    const balancedBehind = 1 + random.below(3);
    return set(endpoints, () => ({ balancedBehind }));
  }),
  passing({ name: "receipts-late", group: "rpc", replacements: 0 }, [60, 240], ({ endpoints }, random) => {
    const receiptsLateMs = random.between(500, 8_000);
    return set(endpoints, () => ({ receiptsLateMs }));
  }),
  passing({ name: "logs-pruned", group: "rpc", replacements: null }, [60, 240], ({ endpoints }, random) =>
    set(endpoints, () => ({ logBlocks: random.below(10) })),
  ),
  passing({ name: "gas-understated", group: "rpc", replacements: 1 }, [20, 240], ({ endpoints }, random) =>
    set(endpoints, () => ({ gasFactor: random.between(0.4, 0.75) })),
  ),
  passing({ name: "gas-overstated", group: "rpc", replacements: 1 }, [5, 20], ({ endpoints }) =>
    set(endpoints, () => ({ gasFactor: 1_000 })),
  ),
  passing({ name: "rpc-lies", group: "rpc", replacements: 1 }, [20, 240], ({ endpoints }, random) => {
    // Both, where they are of one vendor.
    const liars = random.chance(0.3) ? endpoints : [random.pick(endpoints)];
    const lie = random.pick(NODE_LIES);
    return set(liars, () => ({ lie }));
  }),
  {
    name: "updates-revert",
    group: "chain",
    replacements: null,
    begin(world, random) {
      const key = random.pick(world.others);
      world.chain.dearKeyHash = hashOf(key);
      world.failUntil(key, Number.POSITIVE_INFINITY);
      const endAsking = world.every(30_000, () => world.requestKey(key, "10.0.3.1"), 0);
      return {
        forMs: seconds(random, 60, 240),
        end: () => {
          endAsking();
          world.chain.dearKeyHash = null;
          // What was asked for last can still be sent again.
          world.failUntil(key, Date.now() + 60_000 + world.scheduleMs);
        },
      };
    },
  },
  passing({ name: "never-mined", group: "chain", replacements: 2 }, [30, 120], ({ chain }, random) =>
    set([chain], () => ({ neverMined: random.between(0.1, 0.5) })),
  ),
  passing({ name: "pool-forgets", group: "chain", replacements: 0 }, [30, 240], ({ chain }, random) =>
    set([chain], () => ({ forgotten: random.between(0.2, 0.6) })),
  ),
  {
    name: "blocks-missed",
    group: "chain",
    replacements: 0,
    begin({ chain, options }, random) {
      // Within ten minutes, what was promised gets too old to be stored.
      chain.missedBlocks = random.chance(0.2) ? Math.ceil(600_000 / options.blockMs) : 2 + random.below(15);
      const end = () => {
        chain.missedBlocks = 0;
      };
      return { forMs: 0, hasEnded: () => chain.missedBlocks === 0, end };
    },
  },
  {
    name: "reorganization",
    group: "chain",
    replacements: 1,
    begin({ chain }, random) {
      chain.reorganize(1 + random.below(3), random.between(0, 0.6), Date.now());
      return { forMs: 1_000 };
    },
  },
  {
    name: "fee-spike",
    group: "chain",
    replacements: 1,
    begin({ chain }, random) {
      const [before, startedAt, blocks] = [chain.head.baseFee, chain.head.number, 10 + random.below(35)];
      const hasPassed = () => chain.head.number - startedAt >= blocks;
      return {
        forMs: 0,
        hasEnded: () => {
          chain.demand = hasPassed() ? 0 : 1;
          return hasPassed() && chain.head.baseFee < before * 2n;
        },
        end: () => chain.calmFees(),
      };
    },
  },
  {
    name: "no-funds",
    group: "operators",
    replacements: null,
    begin({ chain, operators }, random) {
      const account = random.pick(random.pick(operators).accounts);
      chain.setBalance(account.address, 10n ** 12n);
      return { forMs: seconds(random, 30, 240), end: () => chain.setBalance(account.address, MUCH_ETHER) };
    },
  },
  passing({ name: "signer-silent", group: "operators", replacements: null }, [20, 180], ({ operators }, random) =>
    set([random.pick(operators)], () => ({ isSignerSilent: true })),
  ),
  passing({ name: "partition", group: "operators", replacements: null }, [20, 240], (world, random) => {
    const one = random.pick(world.operators);
    // Without these, it has no quorum.
    for (const index of world.providers.keys()) if (index !== one.index) one.unreachable.add(index);
    return () => one.unreachable.clear();
  }),
  {
    name: "kill",
    group: "operators",
    replacements: null,
    begin(world, random) {
      const one = random.pick(world.operators);
      const restart = () => {
        setTimeout(() => world.startOperator(one), seconds(random, 1, 30));
      };
      // Either at a moment, or at one of its next calls to the outside: between any two awaits.
      if (random.chance(0.5)) {
        one.kill();
        restart();
        return { forMs: 30_000 };
      }
      world.killAtCall(one, random.below(40), restart);
      return { forMs: 60_000 };
    },
  },
  passing({ name: "clock-set", group: "operators", replacements: null }, [10, 240], ({ operators }, random) =>
    set([random.pick(operators)], () => ({
      clockOffsetMs: random.pick([-3_600_000, -60_000, -5_000, 5_000, 60_000, 3_600_000]),
    })),
  ),
  {
    name: "gas-budget",
    group: "operators",
    replacements: 0,
    isPermanent: true,
    settings: { gasPerHour: 1_000_000, gasPerHourForNewKeys: 1_000_000, gasPerHourForFeeds: 1_500_000 },
    begin: () => ({ forMs: Number.POSITIVE_INFINITY }),
  },
  {
    name: "member-never-sends",
    group: "operators",
    replacements: null,
    isPermanent: true,
    begin({ operators }, random) {
      const one = random.pick(operators);
      one.kill();
      return { forMs: Number.POSITIVE_INFINITY };
    },
  },
  passing({ name: "provider", group: "providers", replacements: null }, [30, 240], ({ providers }, random) =>
    set([random.pick(providers)], () => ({
      misbehavior: random.pick([
        ...(["is down", "is silent", "is slow", "answers 503", "answers garbage", "signs with another key"] as const),
        ...(["signs another round", "signs wrong values"] as const),
      ]),
    })),
  ),
  passing({ name: "signatures", group: "providers", replacements: null }, [30, 240], ({ providers }, random) =>
    set([random.pick(providers)], () => ({ misbehavior: "signs with another key" as const })),
  ),
  passing({ name: "committee-silent", group: "providers", replacements: 0 }, [10, 120], ({ providers }, random) => {
    const from = random.below(providers.length);
    const two = [from, (from + 1) % providers.length].flatMap((index) => providers[index] ?? []);
    return set(two, () => ({ misbehavior: random.pick(["is down", "is silent", "answers 503"] as const) }));
  }),
  {
    name: "key-unserved",
    group: "providers",
    replacements: null,
    begin(world, random) {
      const feed = random.pick(world.feeds);
      for (const one of world.providers) one.unserved = stringToHex(feed);
      world.failUntil(feed, Number.POSITIVE_INFINITY);
      return {
        forMs: seconds(random, 60, 240),
        end: () => {
          for (const one of world.providers) one.unserved = null;
          // A minute, for which an operator remembers it.
          world.failUntil(feed, Date.now() + 60_000 + world.scheduleMs);
        },
      };
    },
  },
  {
    name: "contradiction",
    group: "providers",
    replacements: null,
    isPermanent: true,
    begin({ providers }, random) {
      random.pick(providers).misbehavior = "contradicts itself";
      return { forMs: Number.POSITIVE_INFINITY };
    },
  },
  passing({ name: "stranger", group: "requests", replacements: null }, [60, 240], (world, random) =>
    world.every(1_000, () => {
      for (let i = 0; i < 3; i++) world.request(`10.0.0.${1 + random.below(3)}`);
    }),
  ),
  {
    // What nobody can pay for is known of most requests at once, and of the first of a while only when it is built.
    name: "callers-gas-spent",
    group: "requests",
    replacements: null,
    isPermanent: true,
    settings: { gasPerHour: 20_000, gasPerHourForNewKeys: 20_000 },
    begin(world, random) {
      const ask = () => world.requestKey(random.pick(world.feeds), `10.0.2.${1 + random.below(200)}`);
      return { forMs: Number.POSITIVE_INFINITY, end: world.every(500, ask) };
    },
  },
  passing({ name: "crowd", group: "requests", replacements: null }, [60, 240], (world, random) => {
    const size = 2 + random.below(4);
    const callers = () => Array.from({ length: size }, () => `10.0.1.${1 + random.below(200)}`);
    return world.every(2_000, () => world.request(...callers()));
  }),
  passing({ name: "old-rounds", group: "requests", replacements: null }, [120, 240], (world, random) => {
    const feed = random.pick(world.feeds);
    return world.every(world.options.blockMs, () => {
      // It keeps the key due, and the order of the members changes with every round.
      if (isNearlyDue(world, feed)) void world.relay(feed, world.storedRound(feed) + 1);
    });
  }),
  passing({ name: "dishonest-member", group: "operators", replacements: null }, [120, 240], (world, random) => {
    const one = random.pick(world.operators);
    const { member } = one.options;
    const ranking = new Ranking(DATASET, world.chain.dataset.committee.members);
    const isFirst = (feed: string, round: number) => ranking.orderOf(hashOf(feed), BigInt(round))[0] === member;
    one.kill();
    // From reports that it has collected, it stores the smallest newer round in which it has the best rank again.
    const end = world.every(world.options.blockMs, () => {
      for (const feed of world.feeds.filter((each) => isNearlyDue(world, each))) {
        let round = world.storedRound(feed) + 1;
        while (!isFirst(feed, round)) round++;
        if (isFirst(feed, world.storedRound(feed)) && round < Date.now() / 1_000) void world.relay(feed, round);
      }
    });
    return () => {
      end();
      world.startOperator(one);
    };
  }),
  passing({ name: "relayer", group: "requests", replacements: null }, [60, 240], (world, random) =>
    world.every(5_000, () => world.relay(random.pick(world.feeds))),
  ),
];

function isNearlyDue(world: World, feed: string): boolean {
  return Date.now() / 1_000 - world.storedRound(feed) > (world.heartbeatOf(feed) * 3) / 4;
}
