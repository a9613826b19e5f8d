// Loaded into a provider's process: files of a lease are never read to their end.
const fs = require("node:fs/promises");
const { syncBuiltinESMExports } = require("node:module");

const { readFile } = fs;
fs.readFile = (path, ...options) =>
  /lease.\d{12}$/.test(String(path)) ? new Promise(() => {}) : readFile(path, ...options);
syncBuiltinESMExports();
