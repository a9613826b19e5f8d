import { stringToHex } from "viem";
import type { Fault } from "./fault.js";
import type { Random } from "./random.js";
import type { World } from "./world.js";

const seconds = (random: Random, from: number, to: number) => Math.round(random.between(from, to)) * 1_000;

export const FAULTS: readonly Fault<World>[] = [
  {
    name: "rpc-errors",
    group: "rpc",
    replacements: 0,
    begin({ endpoints }, random) {
      for (const one of endpoints) one.errorRate = random.between(0.05, 0.3);
      return {
        forMs: seconds(random, 30, 120),
        end: () => {
          for (const one of endpoints) one.errorRate = 0;
        },
      };
    },
  },
  {
    name: "rpc-silent",
    group: "rpc",
    replacements: null,
    begin({ endpoints }, random) {
      const one = random.pick(endpoints);
      one.isSilent = true;
      return {
        forMs: seconds(random, 20, 120),
        end: () => {
          one.isSilent = false;
        },
      };
    },
  },
  {
    name: "rpc-outage",
    group: "rpc",
    replacements: 0,
    begin({ endpoints }, random) {
      for (const one of endpoints) one.isDown = true;
      return {
        // Beyond 300 s, what was sent before is too old to be stored.
        forMs: random.chance(0.3) ? seconds(random, 310, 400) : seconds(random, 10, 120),
        end: () => {
          for (const one of endpoints) one.isDown = false;
        },
      };
    },
  },
  {
    name: "rpc-lag",
    group: "rpc",
    replacements: 0,
    begin({ endpoints }, random) {
      const one = random.pick(endpoints);
      one.isLagging = true;
      return {
        forMs: seconds(random, 5, 60),
        end: () => {
          one.isLagging = false;
        },
      };
    },
  },
  {
    name: "rpc-balancer",
    group: "rpc",
    replacements: 0,
    begin({ endpoints }, random) {
      const behind = 1 + random.below(3);
      for (const one of endpoints) one.balancedBehind = behind;
      return {
        forMs: seconds(random, 60, 240),
        end: () => {
          for (const one of endpoints) one.balancedBehind = 0;
        },
      };
    },
  },
  {
    name: "receipts-late",
    group: "rpc",
    replacements: 0,
    begin({ endpoints }, random) {
      const lateMs = random.between(500, 8_000);
      for (const one of endpoints) one.receiptsLateMs = lateMs;
      return {
        forMs: seconds(random, 60, 240),
        end: () => {
          for (const one of endpoints) one.receiptsLateMs = 0;
        },
      };
    },
  },
  {
    name: "logs-pruned",
    group: "rpc",
    replacements: null,
    begin({ endpoints }, random) {
      for (const one of endpoints) one.logBlocks = random.below(10);
      return {
        forMs: seconds(random, 60, 240),
        end: () => {
          for (const one of endpoints) one.logBlocks = Number.MAX_SAFE_INTEGER;
        },
      };
    },
  },
  {
    name: "gas-understated",
    group: "rpc",
    replacements: 1,
    begin({ endpoints }, random) {
      for (const one of endpoints) one.gasFactor = random.between(0.4, 0.75);
      return {
        forMs: seconds(random, 20, 240),
        end: () => {
          for (const one of endpoints) one.gasFactor = 1;
        },
      };
    },
  },
  {
    name: "gas-overstated",
    group: "rpc",
    replacements: 1,
    begin({ endpoints }, random) {
      for (const one of endpoints) one.gasFactor = 1_000;
      return {
        forMs: seconds(random, 5, 20),
        end: () => {
          for (const one of endpoints) one.gasFactor = 1;
        },
      };
    },
  },
  {
    name: "never-mined",
    group: "chain",
    replacements: 2,
    begin({ chain }, random) {
      chain.neverMined = random.between(0.1, 0.5);
      return {
        forMs: seconds(random, 30, 120),
        end: () => {
          chain.neverMined = 0;
        },
      };
    },
  },
  {
    name: "pool-forgets",
    group: "chain",
    replacements: 0,
    begin({ chain }, random) {
      chain.forgotten = random.between(0.2, 0.6);
      return {
        forMs: seconds(random, 30, 240),
        end: () => {
          chain.forgotten = 0;
        },
      };
    },
  },
  {
    name: "blocks-missed",
    group: "chain",
    replacements: 0,
    begin({ chain }, random) {
      chain.missedBlocks = 2 + random.below(15);
      return { forMs: 0, hasEnded: () => chain.missedBlocks === 0 };
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
      const { account } = random.pick(operators);
      const had = chain.head.state.balances.get(account.address) ?? 0n;
      chain.setBalance(account.address, 10n ** 12n);
      return { forMs: seconds(random, 30, 240), end: () => chain.setBalance(account.address, had) };
    },
  },
  {
    name: "signer-silent",
    group: "operators",
    replacements: null,
    begin({ operators }, random) {
      const one = random.pick(operators);
      one.isSignerSilent = true;
      return {
        forMs: seconds(random, 20, 180),
        end: () => {
          one.isSignerSilent = false;
        },
      };
    },
  },
  {
    name: "partition",
    group: "operators",
    replacements: null,
    begin({ operators, providers }, random) {
      const one = random.pick(operators);
      // Without these, it has no quorum.
      for (const index of providers.keys()) if (index !== one.index) one.unreachable.add(index);
      return { forMs: seconds(random, 20, 240), end: () => one.unreachable.clear() };
    },
  },
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
  {
    name: "clock-set",
    group: "operators",
    replacements: null,
    begin({ operators }, random) {
      const one = random.pick(operators);
      one.clockOffsetMs = random.pick([-3_600_000, -60_000, -5_000, 5_000, 60_000, 3_600_000]);
      return {
        forMs: seconds(random, 10, 240),
        end: () => {
          one.clockOffsetMs = 0;
        },
      };
    },
  },
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
  {
    name: "provider",
    group: "providers",
    replacements: null,
    begin({ providers }, random) {
      const one = random.pick(providers);
      one.misbehavior = random.pick([
        ...(["is down", "is silent", "is slow", "answers 503", "answers garbage", "signs with another key"] as const),
        ...(["signs another round", "signs wrong values"] as const),
      ]);
      return {
        forMs: seconds(random, 30, 240),
        end: () => {
          one.misbehavior = null;
        },
      };
    },
  },
  {
    name: "committee-silent",
    group: "providers",
    replacements: 0,
    begin({ providers }, random) {
      const from = random.below(providers.length);
      const two = [providers[from], providers[(from + 1) % providers.length]];
      for (const one of two) if (one) one.misbehavior = random.pick(["is down", "is silent", "answers 503"] as const);
      return {
        forMs: seconds(random, 10, 120),
        end: () => {
          for (const one of two) if (one) one.misbehavior = null;
        },
      };
    },
  },
  {
    name: "key-unserved",
    group: "providers",
    replacements: null,
    begin(world, random) {
      const feed = random.pick(world.feeds);
      for (const one of world.providers) one.unserved = stringToHex(feed);
      world.unservedUntil.set(feed, Number.POSITIVE_INFINITY);
      return {
        forMs: seconds(random, 60, 240),
        end: () => {
          for (const one of world.providers) one.unserved = null;
          // A minute, for which an operator remembers it.
          world.unservedUntil.set(feed, Date.now() + 60_000 + world.scheduleMs);
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
  {
    name: "stranger",
    group: "requests",
    replacements: null,
    begin(world, random) {
      const end = world.every(1_000, () => {
        for (let i = 0; i < 3; i++) world.request(`10.0.0.${1 + random.below(3)}`);
      });
      return { forMs: seconds(random, 60, 240), end };
    },
  },
  {
    name: "crowd",
    group: "requests",
    replacements: null,
    begin(world, random) {
      const size = 2 + random.below(4);
      const callers = () => Array.from({ length: size }, () => `10.0.1.${1 + random.below(200)}`);
      const end = world.every(2_000, () => world.request(...callers()));
      return { forMs: seconds(random, 60, 240), end };
    },
  },
  {
    name: "old-rounds",
    group: "requests",
    replacements: null,
    begin(world, random) {
      const feed = random.pick(world.feeds);
      const end = world.every(world.options.blockMs, () => {
        const round = world.storedRound(feed);
        const age = Date.now() / 1_000 - round;
        // It keeps the key due, and the order of the members changes with every round.
        if (age > (world.options.heartbeatSeconds * 3) / 4) void world.relay(feed, round + 1);
      });
      return { forMs: seconds(random, 120, 240), end };
    },
  },
  {
    name: "relayer",
    group: "requests",
    replacements: null,
    begin(world, random) {
      const end = world.every(5_000, () => world.relay(random.pick(world.feeds)));
      return { forMs: seconds(random, 60, 240), end };
    },
  },
];
