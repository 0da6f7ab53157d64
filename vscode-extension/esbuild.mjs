// Bundles the extension, the chat page and, with --tests, the unit tests.
import { build } from "esbuild";
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";

const tests = process.argv.includes("--tests");
const common = { bundle: true, logLevel: "warning", sourcemap: false, target: "es2022" };

if (tests) {
  rmSync("out/test", { recursive: true, force: true });
  await build({
    ...common,
    entryPoints: readdirSync("test")
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => `test/${name}`),
    outdir: "out/test",
    outExtension: { ".js": ".cjs" },
    platform: "node",
    format: "cjs",
    external: ["jsdom", "vscode"],
  });
} else {
  mkdirSync("dist/media", { recursive: true });
  await build({ ...common, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js", platform: "node", format: "cjs", external: ["vscode"], minify: true, keepNames: true });
  await build({ ...common, entryPoints: { chat: "webview/main.ts" }, outdir: "dist/media", platform: "browser", format: "iife", minify: true });
  await build({ ...common, entryPoints: { chat: "webview/style.css" }, outdir: "dist/media", minify: true });
  // Loaded by the page when an answer has a formula or a diagram.
  await build({
    ...common,
    stdin: { contents: 'import katex from "katex"; window.katex = katex;', resolveDir: "." },
    outfile: "dist/media/math.js",
    platform: "browser",
    format: "iife",
    minify: true,
  });
  cpSync("node_modules/mermaid/dist/mermaid.min.js", "dist/media/mermaid.js");
  for (const name of ["codicon.css", "codicon.ttf"]) cpSync(`node_modules/@vscode/codicons/dist/${name}`, `dist/media/${name}`);
}
