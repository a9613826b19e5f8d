import { distinctKeys, request, sameKey } from "./cpu.js";
import { addedLatency } from "./latency.js";
import { Client } from "./load.js";
import { Stage } from "./stage.js";

const all = new Stage();
try {
  const stage = await all.start(1000);
  const client = new Client(stage.operator.url, "/data/request");
  const answer = await client.post(request(stage, stage.keys[0]));
  console.error(JSON.stringify(answer).length);
  const bare = await all.startBare(answer);
  await client.close();
  for (let i = 0; i < Number(process.argv[2] ?? 2); i++) {
    for (const f of [sameKey, distinctKeys, addedLatency]) {
      const t = Date.now();
      console.error(f.name, await f(stage, bare), Date.now() - t);
    }
  }
} finally {
  await all.close();
}
