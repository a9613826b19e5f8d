import { type Job, type RoundCall, type Sent, SubmissionUnknown } from "./job.js";
import type { TransactionQueue } from "./queue.js";

/**
 * Sends a job through a transaction queue, and gives the reserved gas back if nothing was sent.
 *
 * @throws The queue's error. A transaction whose outcome is unknown may still be mined, so its gas stays reserved.
 */
export async function sendJob<C extends RoundCall>(
  queue: TransactionQueue,
  job: Job<C>,
  release: () => void,
): Promise<Sent<C>> {
  try {
    return await queue.send(job);
  } catch (error) {
    if (error instanceof SubmissionUnknown) throw error.reason;
    release();
    throw error;
  }
}
