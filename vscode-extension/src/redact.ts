/** Takes what looks like a credential, or names the user's home, out of text that may be shared. Pure. */
export function redact(text: string, home = process.env["HOME"] ?? process.env["USERPROFILE"] ?? ""): string {
  const masked = text
    .replace(/\b(sk|pk|ghp|gho|ghs|xox[abp]|AKIA)[-_]?[A-Za-z0-9_-]{12,}/g, "[redacted]")
    .replace(/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, "$1 [redacted]")
    .replace(/((?:api[_-]?key|token|secret|password|authorization)["']?\s*[:=]\s*["']?)[^\s"',}]{6,}/gi, "$1[redacted]");
  return home.length > 2 ? masked.split(home).join("~") : masked;
}
