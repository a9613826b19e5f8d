import { type Address, decodeFunctionData, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import vectors from "../vectors/announcements.json" with { type: "json" };
import { committeeDirectoryAbi } from "./abi/committee-directory.js";
import { type Announcement, announcementDigest, encodeAnnouncement, signAnnouncement } from "./node-announcement.js";

describe.each(vectors.announcements)("the announcement of $name", (vector) => {
  const directory = { chainId: vector.chainId, address: vector.directory as Address };
  const announcement: Announcement = {
    provider: vector.provider as Address,
    url: vector.url,
    issuedAt: BigInt(vector.issuedAt),
  };

  test("has the vectors' digest and signature", async () => {
    expect(announcementDigest(directory, announcement)).toBe(vector.digest);
    const account = privateKeyToAccount(vector.privateKey as Hex);
    expect(await signAnnouncement(account, directory, announcement)).toBe(vector.signature);
  });

  test("is encoded with every part in its place", () => {
    const { functionName, args } = decodeFunctionData({
      abi: committeeDirectoryAbi,
      data: encodeAnnouncement(announcement, vector.signature as Hex),
    });
    const { provider, url, issuedAt } = announcement;
    expect([functionName, args]).toEqual(["announce", [provider, url, issuedAt, vector.signature]]);
  });
});
