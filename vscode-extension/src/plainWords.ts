/** Words of others made plain for places where the workbench reads signs in them. Pure. */

/** A notification makes links of `[words](command:…)`, and such a link runs any command of the editor. */
export function messageWords(text: string): string {
  return text.replaceAll("](", "] (");
}

/** A row of a list draws `$(name)` as an icon: a command would lack that part, or look like a button of ours. */
export function rowWords(text: string): string {
  return text.replaceAll("$(", "$\u2060(");
}
