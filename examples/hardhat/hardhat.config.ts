import { fileURLToPath } from "node:url";
import nodeTestRunner from "@nomicfoundation/hardhat-node-test-runner";
import viem from "@nomicfoundation/hardhat-viem";
import viemAssertions from "@nomicfoundation/hardhat-viem-assertions";
import { defineConfig } from "hardhat/config";

export default defineConfig({
  plugins: [viem, viemAssertions, nodeTestRunner],
  solidity: {
    version: "0.8.37",
    // The compiler of the npm package: the lock pins it, and it works offline. Without this line Hardhat downloads one.
    path: fileURLToPath(import.meta.resolve("solc/soljson.js")),
    // The tests deploy them: the mock in place of a dataset.
    npmFilesToBuild: [
      "@dataset-oracle/contracts/mocks/MockOracle.sol",
      "@dataset-oracle/contracts/adapters/ChainlinkAdapter.sol",
    ],
  },
  networks: {
    // Its accounts are unlocked.
    devnet: { type: "http", url: "http://127.0.0.1:8545", chainId: 42 },
  },
});
