import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { network } from "hardhat";
import { parseEther, parseUnits, stringToHex } from "viem";

/** The mock's. */
const QUERY_PRICE = parseEther("0.001");

describe("Shop", () => {
  /** A shop that reads a mock, on a new chain. */
  async function deploy() {
    const { viem } = await network.create();
    const oracle = await viem.deployContract("MockOracle");
    const shop = await viem.deployContract("Shop", [oracle.address]);
    const [buyer] = await viem.getWalletClients();
    return { viem, oracle, shop, buyer: buyer.account.address };
  }

  it("takes twenty dollars and the query price, and returns the change", async () => {
    const { viem, oracle, shop, buyer } = await deploy();
    await oracle.write.setSpotPrice(["ETH-USD", parseEther("2000")]);
    const cost = parseEther("0.01") + QUERY_PRICE;
    await viem.assertions.balancesHaveChanged(shop.write.buy(["0x"], { value: parseEther("1") }), [
      { address: buyer, amount: -cost },
      { address: oracle.address, amount: QUERY_PRICE },
    ]);
    assert.equal(await shop.read.ticketsOf([buyer]), 1n);
  });

  it("rejects a rate that is older than a minute", async () => {
    const { viem, oracle, shop } = await deploy();
    await oracle.write.setSpotPrice(["ETH-USD", parseEther("2000"), 600n]);
    await viem.assertions.revertWithCustomError(
      shop.write.buy(["0x"], { value: parseEther("1") }),
      shop,
      "DataExpired",
    );
  });

  it("rejects a payment that is too low", async () => {
    const { viem, oracle, shop } = await deploy();
    await oracle.write.setSpotPrice(["ETH-USD", parseEther("2000")]);
    const cost = parseEther("0.01") + QUERY_PRICE;
    const bought = shop.write.buy(["0x"], { value: cost - 1n });
    await viem.assertions.revertWithCustomErrorWithArgs(bought, shop, "TooLittle", [cost - 1n, cost]);
  });
});

describe("ChainlinkAdapter", () => {
  it("answers with the dataset's price once somebody has subscribed it", async () => {
    const { viem } = await network.create();
    const oracle = await viem.deployContract("MockOracle");
    await oracle.write.setSpotPrice(["ETH-USD", parseEther("2000")]);
    const feed = await viem.deployContract("ChainlinkAdapter", [oracle.address, stringToHex("SPOTPX/ETH-USD"), 8]);
    await oracle.write.subscribe([feed.address, 1n], { value: parseEther("0.1") });
    const [, answer] = await feed.read.latestRoundData();
    assert.equal(answer, parseUnits("2000", 8));
  });
});
