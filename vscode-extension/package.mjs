// Makes the .vsix, offline: builds, puts the server's wheel inside, and packs.
//   npm run package [-- target.vsix]
import { createVSIX } from "@vscode/vsce";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "..");
const target = process.argv[2] ?? join(here, "assent.vsix");

execFileSync(process.execPath, ["esbuild.mjs"], { cwd: here, stdio: "inherit" });
for (const name of ["LICENSE", "CHANGELOG.md"]) if (existsSync(join(root, name))) copyFileSync(join(root, name), join(here, name));
buildWheel(join(here, "server"));
await createVSIX({ cwd: here, packagePath: target, dependencies: false, skipLicense: true, allowMissingRepository: true, rewriteRelativeLinks: false });
console.log(target);

/** The wheel is pure Python, so the one built here runs everywhere. */
function buildWheel(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const own = join(root, ".venv", "bin", "python");
  const python = process.env.ASSENT_PYTHON ?? (existsSync(own) ? own : "python3");
  execFileSync(python, ["-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", folder, root], { stdio: "inherit" });
  if (!readdirSync(folder).some((name) => name.endsWith(".whl"))) throw new Error("pip made no wheel");
}
