/** Request parameters, which may be repeated. */

/** The parameters as sent: a name may have several values. */
export type SentParameters = Readonly<Record<string, string | readonly string[]>>

/** The first value of a parameter; an empty one counts as absent (RFC 6749 §3.1). */
export function sentValue(sent: SentParameters, name: string): string | undefined {
  const value = sent[name]
  return (typeof value === 'string' ? value : value?.[0]) || undefined
}

/** All non-empty values. */
export function sentValues(sent: SentParameters, name: string): string[] {
  const value = sent[name] ?? []
  return (typeof value === 'string' ? [value] : [...value]).filter(Boolean)
}
