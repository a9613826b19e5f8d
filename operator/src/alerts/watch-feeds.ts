import { setTimeout as delay } from "node:timers/promises";
import { describeError } from "../chain/rpc-error.js";
import { readManyStored } from "../chain/stored-values.js";
import { dataPointOf } from "../data-point.js";
import { type Dataset, datasetsWithFeeds, type Network } from "../network.js";
import type { Operator } from "../operator.js";
import { type Alert, alertOf } from "./alert.js";
import { type AlertReason, alertReason } from "./alert-reason.js";
import { Webhook } from "./webhook.js";

const MAX_ALERTS = 100;
/** After this many failed readings in a row, one line is logged, and no other until a reading has succeeded. */
const FAILURES_BEFORE_WARNING = 3;

/**
 * Watches the stored values of all feeds until the process ends, and reports what goes wrong and what has recovered: in the
 * operator's alerts, and at the webhooks. It judges what is stored, whoever updates it.
 *
 * @param webhooks URLs, which may hold tokens.
 */
export async function watchFeeds(operator: Operator, webhooks: readonly string[]): Promise<void> {
  const { clock, closing, logger, alerts } = operator;
  const startedAt = Math.floor(clock() / 1000);
  const hooks = webhooks.map((url, index) => {
    return new Webhook(url, logger.child({ webhook: `alertWebhooks/${index}` }), closing);
  });
  const tell = (alert: Alert) => {
    alerts.unshift(alert);
    alerts.splice(MAX_ALERTS);
    for (const hook of hooks) hook.send(alert);
  };
  const networks = [...operator.networks.values()];
  await Promise.all(
    networks.flatMap((network) => {
      return datasetsWithFeeds(network).map((dataset) => watchFeedsOf(operator, network, dataset, startedAt, tell));
    }),
  );
}

async function watchFeedsOf(
  { clock, closing, logger }: Operator,
  network: Network,
  dataset: Dataset,
  startedAt: number,
  tell: (alert: Alert) => void,
): Promise<void> {
  const reasons = new Map<string, AlertReason>();
  const { feeds } = dataset;
  const keys = feeds.map(({ key }) => key);
  let failures = 0;
  while (!closing.aborted) {
    try {
      const points = await readManyStored(network.client, dataset.address, keys, "latest");
      const now = Math.floor(clock() / 1000);
      for (const [index, { key, policy }] of feeds.entries()) {
        const stored = points[index];
        if (stored === undefined) continue;
        const before = reasons.get(key) ?? null;
        const reason = alertReason(stored, policy.heartbeatSeconds, startedAt, now);
        if (reason === before) continue;
        if (reason === null) reasons.delete(key);
        else reasons.set(key, reason);
        tell(alertOf(dataPointOf(network, dataset, key), stored, reason ?? "recovered", now));
      }
      failures = 0;
    } catch (error) {
      // A chain that cannot be read says nothing about its values.
      failures++;
      if (failures === FAILURES_BEFORE_WARNING && !closing.aborted) {
        const fields = { network: network.chainId, dataset: dataset.address, reason: describeError(error) };
        logger.warn(fields, "the feeds cannot be read: no alerts are sent until they can; check the RPC endpoints");
      }
    }
    await delay(network.settings.feedPollMs, undefined, { signal: closing, ref: false }).catch(() => {});
  }
}
