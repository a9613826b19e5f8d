import { setTimeout as sleep } from "node:timers/promises";
import { type Account, deriveAccount } from "@dataset-oracle/devnet/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { block, forgotten } from "./documents.js";
import { AUTHORITIES, type Machine } from "./machine.js";
import { Network, RPC_URL } from "./network.js";

/*
 * A team runs an oracle, from the deployment to a provider that leaves, on machines of its own, with the commands of the
 * documents: `npm run rehearse`. Elsewhere only the first test runs.
 */

type Kind = "operator" | "provider";
type Proxy = "caddy" | "nginx";

/** What the pages of both kinds of service have. */
const proceduresOf = (document: string) => ({
  setUp: block(document, "Put it on a server"),
  makeKey: block(document, "Put it on a server", 1),
  configure: block(document, "Put it on a server", 2),
  start: block(document, "Put it on a server", 3),
  caddy: block(document, "Put it on a server", 4),
  nginx: block(document, "Put it on a server", 5),
  backUp: block(document, "Back up"),
  stop: block(document, "Move to another machine, or restore"),
  restore: block(document, "Move to another machine, or restore", 1),
  upgrade: block(document, "Upgrade"),
  makeNextKey: block(document, "Rotate a key"),
  useNextKey: block(document, "Rotate a key", 1),
});
const OPERATOR = "operator/deploy/README.md";
const PROVIDER = "provider/deploy/README.md";
const PROCEDURES = { operator: proceduresOf(OPERATOR), provider: proceduresOf(PROVIDER) };
const SWAP_OPERATORS_FOLDERS = block(OPERATOR, "Upgrade", 1);
const TRANSFER_OLD_BALANCE = block(OPERATOR, "Rotate a key", 2);
const ANNOUNCE = block(PROVIDER, "Announce your URL");
const LEAVE = block(PROVIDER, "Leave");
const SPEND_INCOME = block(PROVIDER, "Your income");

const SCRIPTS = "script/README.md";
const DEPLOY = block(SCRIPTS, "Bring up a network");
const DEPLOY_LENS = block(SCRIPTS, "Bring up a network", 1);
const GOVERN = block(SCRIPTS, "Govern").trim().split("\n");

test("the rehearsal takes every block that nothing else runs", () => {
  expect(forgotten()).toEqual([]);
});

const CHAIN_ID = 11155111;
const DEPLOYMENT = `deployments/${CHAIN_ID}.json`;
const SETTINGS = `script/config/${CHAIN_ID}.json`;
const DATASETS = ["financial", "webOracleNumber", "webOracleBytes"];
const PASSWORD = "password";
/** Accounts with Ether. */
const [deployer, owner, newOwner] = [0, 1, 2].map(deriveAccount) as [Account, Account, Account];

/** A service on a machine of its own, behind a proxy. */
interface Service {
  readonly kind: Kind;
  readonly host: string;
  readonly proxy: Proxy;
  machine: Machine;
  address: string;
}

/** Writes the endpoint into commands, between the quotes that they have. */
const withRpcUrl = (commands: string) => commands.replace("https://rpc.example", () => RPC_URL);

/** Runs commands of the documents in a session of a service's owner. */
function at({ kind, host, machine }: Service, ...commands: readonly string[]): Promise<string> {
  const session = withRpcUrl(PROCEDURES[kind].setUp).replace(`DOMAIN=${kind}.example`, `DOMAIN=${host}`);
  return machine.run([session, ...commands].join("\n"), { env: { NODE_EXTRA_CA_CERTS: AUTHORITIES } });
}

describe.runIf(process.env.REHEARSAL_FOLDER)("a team", () => {
  let network: Network;
  let team: Machine;
  const providers: Service[] = [];
  const operators: Service[] = [];
  let deployment: { datasets: Record<string, { address: string }> };
  /** Keys whose value nobody has requested yet. */
  const keys = "BTC SOL XRP ADA DOGE LTC LINK AVAX DOT BCH UNI".split(" ").map((base) => `SPOTPX/${base}-USD`);

  /** Runs scripts, and types what they ask for. */
  const script = (commands: string, ...typed: readonly string[]) =>
    team.run(commands, { typed, env: { ETH_RPC_URL: RPC_URL, NODE_EXTRA_CA_CERTS: AUTHORITIES } });

  const cast = async (command: string) => (await team.run(`npx cast ${command} --rpc-url '${RPC_URL}'`)).trim();

  /** Waits until what is read is as expected. */
  async function eventually(from: Service, read: () => Promise<string>, isExpected: (text: string) => boolean) {
    for (let tries = 0; tries < 60; tries++) {
      const text = await read();
      if (isExpected(text)) return;
      if (tries === 59) throw new Error(`${from.host} never says what it must, but: ${text}\n${from.machine.log()}`);
      await sleep(2_000);
    }
  }

  /** Waits until a service is ready at its host name, as others see it. */
  const isReady = (service: Service) =>
    eventually(
      service,
      () => team.run(`curl --silent --show-error https://${service.host}/ready 2>&1 || true`),
      (answer) =>
        answer.includes(service.kind === "operator" ? '"broadcasting":"ok"' : '"ready"') &&
        // All of an operator's endpoints can be used.
        !answer.includes('"ready":false'),
    );

  /** Requires that an operator soon gets values from these providers, and stores one. */
  async function serves(operator: Service, signers: readonly Service[], key = keys.shift(), dataset = "financial") {
    const address = deployment.datasets[dataset]?.address;
    const request = async (broadcast: boolean) => {
      const body = JSON.stringify({ network_id: CHAIN_ID, dataset: address, key, broadcast });
      const headers = "-H 'content-type: application/json' -H 'prefer: wait=20'";
      return team.run(`curl --silent https://${operator.host}/data/request ${headers} -d '${body}'`);
    };
    const isSigner = (answer: string) => signers.map(({ address }) => answer.includes(`"provider":"${address}"`));
    await eventually(
      operator,
      () => request(false),
      (answer) => !isSigner(answer).includes(false),
    );
    expect(JSON.parse(await request(true))).toMatchObject({ status: "OK", transaction_hash: expect.any(String) });
  }

  async function prepare(kind: Kind, host: string, proxy: Proxy): Promise<Service> {
    const machine = await network.machine(host);
    await network.lead(host, machine);
    const service = { kind, host, proxy, machine, address: "" };
    await prepareProxy(service);
    await takeKey(service, PROCEDURES[kind].makeKey);
    return service;
  }

  /** Caddy asks the team's authority for certificates; nginx has one. */
  async function prepareProxy({ host, machine, proxy }: Service) {
    if (proxy === "caddy")
      return machine.write("/etc/caddy/Caddyfile", "{\n\tacme_ca https://ca.example/acme/local/directory\n}\n");
    const { chain, key } = await network.certificate(host);
    await machine.write(`/etc/letsencrypt/live/${host}/fullchain.pem`, chain);
    await machine.write(`/etc/letsencrypt/live/${host}/privkey.pem`, key, "600");
  }

  /** Makes a key, whose account gets Ether. */
  async function takeKey(service: Service, commands: string) {
    const printed = await at(service, commands);
    service.address = /0x[0-9a-fA-F]{40}/.exec(printed)?.[0] ?? expect.fail(printed);
    await cast(`rpc anvil_setBalance ${service.address} 0x4563918244f40000`);
  }

  async function start(service: Service) {
    const { kind, machine, proxy } = service;
    const procedures = PROCEDURES[kind];
    const folder = `/etc/dataset-${kind}`;
    await at(service, procedures.configure);
    await machine.run(`cp ${AUTHORITIES} ${folder}/ca.pem
      echo "NODE_EXTRA_CA_CERTS='${folder}/ca.pem'" >> ${folder}/environment`);
    await edit(service);
    await machine.write(`${folder}/${DEPLOYMENT}`, deployment);
    await at(service, procedures.start, procedures[proxy]);
    await isReady(service);
    // Behind the proxy, it sees who asks.
    await team.run(`curl --silent https://${service.host}/unknown`);
    await expect.poll(() => machine.log()).toContain(`"ip":"${team.address}"`);
  }

  /** Writes into a configuration what its owner has to. */
  async function edit(service: Service) {
    const { kind, machine } = service;
    const path = `/etc/dataset-${kind}/${kind}.json`;
    const config = JSON.parse(await machine.run(`cat ${path}`));
    await machine.write(path, kind === "operator" ? operatorConfig(service, config) : providerConfig(config));
  }

  const providerConfig = (example: { webOracle: object }) => ({
    ...example,
    operators: operators.map(({ machine }) => machine.address),
    webOracle: { ...example.webOracle, hosts: ["api.weather.example"] },
  });

  /** The first operator sends for a member and knows the providers; the second is a volunteer, and finds them. */
  function operatorConfig(service: Service, example: { networks: [{ feeds: [object] }] }) {
    const [network] = example.networks;
    const dataset = deployment.datasets.financial?.address;
    const feeds = [{ ...network.feeds[0], dataset, heartbeatSeconds: 60, minIntervalSeconds: 10 }];
    const members = [providers[1]?.address];
    const own =
      service === operators[0]
        ? { sender: members[0], providers: providers.map(({ address, host }) => ({ address, url: `https://${host}` })) }
        : { sender: "volunteer", providers: undefined };
    return { ...example, networks: [{ ...network, feeds, members, ...own }] };
  }

  /** Writes settings of every dataset. */
  async function settle(settings: object) {
    const file = JSON.parse(await team.run(`cat ${SETTINGS}`));
    for (const name of DATASETS) Object.assign(file[name], settings);
    await team.write(`/opt/dataset-oracle/${SETTINGS}`, file);
  }

  const members = () => ({
    members: providers.map(({ address }) => address).toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1)),
  });

  /** Runs a command that governs, as a dry run, and then for good. */
  async function govern(name: string, dataset = "financial") {
    const line = GOVERN.find((one) => one.includes(`${name}.s.sol`)) ?? expect.fail(`${SCRIPTS} has no ${name}.`);
    const own = `${GOVERN[0]?.replace("financial", dataset)}\n${line}`;
    expect(await script(own, PASSWORD)).toContain("This was a dry run");
    await script(`${own} --broadcast`, PASSWORD);
  }

  async function replaceCommittee() {
    await settle(members());
    for (const dataset of DATASETS) await govern("RotateCommittee", dataset);
  }

  async function readDeployment() {
    deployment = JSON.parse(await team.run(`cat ${DEPLOYMENT}`));
  }

  beforeAll(async () => {
    network = await Network.start(CHAIN_ID);
    team = await network.machine("team.example");
    for (const [name, account] of Object.entries({ owner, "new-owner": newOwner }))
      await script(`npx cast wallet import ${name} --interactive`, account.privateKey, PASSWORD);
  });

  test("makes the services' keys", async () => {
    const added = [
      ["operator", "operator.example", "caddy"],
      ["operator", "second.example", "nginx"],
      ["provider", "one.example", "caddy"],
      ["provider", "two.example", "nginx"],
      ["provider", "three.example", "caddy"],
      ["provider", "four.example", "nginx"],
    ] as const;
    const services = await Promise.all(added.map(([kind, host, proxy]) => prepare(kind, host, proxy)));
    operators.push(...services.slice(0, 2));
    providers.push(...services.slice(2));
  });

  test("deploys the datasets", async () => {
    await settle({ owner: owner.address, ...members() });
    await script(withRpcUrl(DEPLOY), deployer.privateKey, PASSWORD, PASSWORD, PASSWORD, PASSWORD);
    await readDeployment();
    expect(Object.keys(deployment.datasets)).toEqual(DATASETS);
  });

  test("starts the providers", async () => {
    await Promise.all(providers.map(start));
  });

  test("announces the providers", async () => {
    const printed = await Promise.all(providers.map((service) => at(service, ANNOUNCE)));
    const expected = providers.map(({ host, address }) => `Announced the URL https://${host} of provider ${address} `);
    expect(printed).toEqual(expected.map((text) => expect.stringContaining(text)));
  });

  test("starts the operators", async () => {
    await Promise.all(operators.map(start));
    for (const operator of operators) await serves(operator, providers);
  });

  test("deploys the lens, which the operators serve", async () => {
    await script(DEPLOY_LENS, PASSWORD);
    await readDeployment();
    expect(deployment).toHaveProperty("verifiedLens");
  });

  test("publishes a spec, whose value can be requested", async () => {
    await team.write("/root/publisher-key", owner.privateKey, "600");
    const env = { NODE_EXTRA_CA_CERTS: AUTHORITIES, PUBLISHER_PRIVATE_KEY_FILE: "/root/publisher-key" };
    const spec = "devnet/specs/temperature.json";
    await team.run(`npm run -s provider -- publish ${spec} --deployment ${DEPLOYMENT} --rpc-url '${RPC_URL}'`, { env });
    const printed = await team.run(`npm run -s provider -- key ${spec} London`);
    const key = /WEB\/\S+/.exec(printed)?.[0];
    await serves(operators[1] as Service, providers, key, "webOracleNumber");
  });

  test("governs: sets a price, which is paid, shared and spent", async () => {
    await settle({ queryPrice: "2000000000000000", subscriptionPrice: "200000000000000000" });
    await govern("SetQueryPrice");
    await govern("SetSubscriptionPrice");
    const { address } = deployment.datasets.financial ?? expect.fail();
    const query = `send ${address} "query(bytes)" $(npx cast from-utf8 SPOTPX/ETH-USD)`;
    await cast(`${query} --value 2000000000000000 --unlocked --from ${deployer.address}`);
    const [service] = providers as [Service];
    const balance = async (account: string) => BigInt(await cast(`balance ${account}`));
    const before = await balance(service.address);
    await govern("ShareIncome");
    expect((await balance(service.address)) - before).toBe(500_000_000_000_000n);
    const saved = await balance(owner.address);
    await at(service, SPEND_INCOME.replace("0x...", owner.address));
    expect((await balance(owner.address)) - saved).toBe(500_000_000_000_000_000n);
  });

  test("rotates a provider's key", async () => {
    const [service] = providers as [Service];
    await takeKey(service, PROCEDURES.provider.makeNextKey);
    await replaceCommittee();
    await at(service, PROCEDURES.provider.useNextKey);
    await isReady(service);
    for (const operator of operators) await serves(operator, providers);
  });

  test("rotates an operator's key", async () => {
    const [operator] = operators as [Service];
    const old = operator.address;
    await takeKey(operator, PROCEDURES.operator.makeNextKey);
    await at(operator, PROCEDURES.operator.useNextKey);
    await isReady(operator);
    await serves(operator, providers);
    expect(await cast(`nonce ${operator.address}`)).not.toBe("0");
    const nonces = await at(operator, TRANSFER_OLD_BALANCE.replace(/^npx cast send.*$/m, ""));
    expect(new Set(nonces.trim().split("\n")).size).toBe(1);
    await at(operator, TRANSFER_OLD_BALANCE);
    expect(Number(await cast(`nonce ${old}`))).toBe(Number(nonces.trim().split("\n")[0]) + 1);
  });

  test("upgrades an operator and a provider", async () => {
    const [operator] = operators as [Service];
    const [, service] = providers as [Service, Service];
    await Promise.all([
      at(operator, PROCEDURES.operator.upgrade).then(() => at(operator, SWAP_OPERATORS_FOLDERS)),
      at(service, PROCEDURES.provider.upgrade),
    ]);
    for (const one of [operator, service]) {
      await one.machine.run("test -d /opt/dataset-oracle-old");
      await isReady(one);
    }
    for (const one of operators) await serves(one, providers);
  });

  /** Moves a service to a new machine, by a backup, as if the old machine were lost. */
  async function restore(service: Service) {
    const { kind, host, machine: old } = service;
    const { backUp, stop, restore } = PROCEDURES[kind];
    const own = "own.conf";
    await old.write(`/etc/systemd/system/dataset-${kind}.service.d/${own}`, "[Service]\nEnvironment=OWN=1\n");
    await at(service, backUp);
    if (kind === "provider")
      expect(await old.run("find /root/dataset-provider-evidence -name '*.jsonl' -size +0")).toContain(".jsonl");
    const backup = `/root/dataset-${kind}.tgz`;
    const saved = await old.run(`base64 ${backup}`);
    await at(service, stop);
    await old.lose();
    // As the page of providers says.
    await sleep(30_000);
    service.machine = await network.machine(host);
    await service.machine.run(`base64 --decode > ${backup}`, { input: saved });
    await network.lead(host, service.machine);
    await at(service, restore);
    expect(await service.machine.run(`systemctl cat dataset-${kind}`)).toContain(own);
    await isReady(service);
  }

  test("moves an operator and a provider to other machines", async () => {
    await Promise.all([restore(operators[0] as Service), restore(providers[2] as Service)]);
    // Providers learn the operator's address.
    for (const service of providers) {
      await edit(service);
      await service.machine.run("systemctl restart dataset-provider");
    }
    await Promise.all(providers.map(isReady));
    for (const one of operators) await serves(one, providers);
  });

  test("replaces a provider, which leaves", async () => {
    const next = await prepare("provider", "five.example", "caddy");
    await start(next);
    await at(next, ANNOUNCE);
    const [old] = providers.splice(3, 1, next) as [Service];
    await replaceCommittee();
    expect(await at(old, LEAVE)).toContain(`Withdrew the URL of provider ${old.address}`);
    for (const one of operators) await serves(one, providers);
  });

  test("hands a dataset over to another owner", async () => {
    await settle({ owner: newOwner.address });
    await govern("TransferOwnership");
    await govern("AcceptOwnership");
    expect(await cast(`call ${deployment.datasets.financial?.address} "owner()(address)"`)).toBe(newOwner.address);
  });

  test("has kept the feed fresh", async () => {
    for (const { machine } of operators) {
      const age = await machine.run("curl --silent http://127.0.0.1:9465/metrics | grep ^operator_feed_age_seconds");
      expect(Number(age.split(" ").at(-1))).toBeLessThan(60);
    }
  });

  test("shows how long each provider's certificate is valid", async () => {
    for (const { machine } of operators) {
      // It reads them when it starts, and then only every hour.
      await machine.run("systemctl restart dataset-operator");
      const read = async () => {
        const text = await machine.run("curl --silent http://127.0.0.1:9465/metrics || true");
        const series = text.matchAll(/^operator_provider_certificate_days\{.*host="(.+?)".*\} (\S+)$/gm);
        return [...series].map(([, host, days]) => [host, Number(days) > 0 && Number(days) < 31]).toSorted();
      };
      const expected = providers.map(({ host }) => [host, true]).toSorted();
      await expect.poll(read, { interval: 1_000, timeout: 60_000 }).toEqual(expected);
    }
  });
});
