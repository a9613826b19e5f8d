import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** Returns the addresses of a name. Each question may get different ones. */
type Zone = (name: string) => readonly string[];

/** A name server on loopback. */
export interface NameServer {
  readonly address: string;
  close(): void;
}

/** Starts a name server that answers A and AAAA questions from `zone`, with a time to live of 0. */
export async function startNameServer(zone: Zone): Promise<NameServer> {
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => socket.send(answer(query, zone), from.port, from.address));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { address: `127.0.0.1:${(socket.address() as AddressInfo).port}`, close: () => socket.close() };
}

const HEADER = 12;
const A = 1;

function answer(query: Buffer, zone: Zone): Buffer {
  const labels: string[] = [];
  let at = HEADER;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const end = at + 5;
  const type = query.readUInt16BE(at + 1);
  const records = zone(labels.join("."))
    .filter((address) => address.includes(":") !== (type === A))
    .map((address) =>
      record(type, address.includes(":") ? ipv6(address) : Buffer.from(address.split(".").map(Number))),
    );
  const header = Buffer.alloc(HEADER);
  query.copy(header, 0, 0, 2);
  // The flags say response, recursion available, no error; the count is one question.
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, query.subarray(HEADER, end), ...records]);
}

function record(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  // The name is a pointer to the question.
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

/** Eight groups, of which "::" stands for those that are zero. */
function ipv6(text: string): Buffer {
  const [head = "", tail = ""] = text.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":"));
  const [first, last] = [groups(head), groups(tail)];
  const all = [...first, ...Array<string>(8 - first.length - last.length).fill("0"), ...last];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}
