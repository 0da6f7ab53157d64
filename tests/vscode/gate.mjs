// Closes the proposed-API gate that code-server leaves open, in the private copy in the cache.
//
// A shipped VS Code refuses proposed API to an extension that does not declare it; code-server's
// `isProposedApiEnabled` always says yes, so a test on it would pass with code that breaks for users.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = process.argv[2];
if (!root) throw new Error("usage: gate.mjs <code-server folder>");

const files = [
  "server-main.js",
  "vs/workbench/api/node/extensionHostProcess.js",
  "vs/workbench/api/worker/extensionHostWorkerMain.js",
  "vs/code/browser/workbench/workbench.js",
];
const open = /function ([\w$]+)\(([\w$]+),([\w$]+)\)\{return!0\}(function [\w$]+\(\2,\3\)\{if\(!\1\(\2,\3\)\)throw new Error\(`Extension '\$\{\2\.identifier\.value\}' CANNOT use API propo)/g;

for (const name of files) {
  const path = join(root, "lib/vscode/out", name);
  const text = readFileSync(path, "utf8");
  if (text.includes("/*gated*/")) continue;
  let hits = 0;
  const closed = text.replace(open, (_all, fn, extension, proposal, rest) => {
    hits += 1;
    return `function ${fn}(${extension},${proposal}){/*gated*/return!!(${extension}.enabledApiProposals&&${extension}.enabledApiProposals.includes(${proposal}))}${rest}`;
  });
  if (hits !== 1) throw new Error(`${name}: expected one open gate, found ${hits}; this code-server is not the one we know`);
  writeFileSync(path, closed);
}
