/** Codes as users type or paste them: apps and emails show them in groups. */

/** Without blanks and hyphens. */
export function withoutSeparators(typed: string): string {
  return typed.replace(/[\s\p{Pd}]/gu, '')
}

/** A numeric code without separators; the token of a link is only trimmed. */
export function readTypedCode(typed: string): string {
  return /^[\d\s\p{Pd}]*$/u.test(typed) ? withoutSeparators(typed) : typed.trim()
}
