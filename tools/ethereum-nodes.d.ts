export declare function folderOf(node: "hardhat-2" | "hardhat-3" | "ganache"): string;
