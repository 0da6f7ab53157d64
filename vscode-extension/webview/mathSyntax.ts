/** Formulas in Markdown: `$x$`, `$$x$$`, `\(x\)`, `\[x\]`. A sum of money is none: no space inside, no digit behind. */
import type MarkdownIt from "markdown-it";

const FORMS: { pattern: RegExp; block: boolean }[] = [
  { pattern: /^\$\$([^$]+?)\$\$/, block: true },
  { pattern: /^\\\[([^]+?)\\\]/, block: true },
  { pattern: /^\\\(([^]+?)\\\)/, block: false },
  { pattern: /^\$(?![\s\d$])([^$\n]*?[^\s$\\])\$(?!\d)/, block: false },
];

export function mathSyntax(md: InstanceType<typeof MarkdownIt>): void {
  md.inline.ruler.before("escape", "math", (state, silent) => {
    const first = state.src[state.pos];
    if (first !== "$" && first !== "\\") return false;
    const rest = state.src.slice(state.pos, state.posMax);
    for (const { pattern, block } of FORMS) {
      const match = pattern.exec(rest);
      if (!match) continue;
      if (!silent) {
        const token = state.push("math", "code", 0);
        token.content = (match[1] ?? "").trim();
        token.info = block ? "block" : "inline";
      }
      state.pos += match[0].length;
      return true;
    }
    return false;
  });
  md.renderer.rules["math"] = (tokens, at) => `<code class="math ${tokens[at]?.info}">${md.utils.escapeHtml(tokens[at]?.content ?? "")}</code>`;
}
