/** Language tags (BCP 47), as people write them. */

/** Characters; no real tag is as long. */
const longestTag = 35

/** The tag as BCP 47 spells it; also takes `pt_BR`. Undefined for what is none. */
export function canonical(tag: string): string | undefined {
  if (tag.length > longestTag) return undefined
  try {
    return new Intl.Locale(tag.replaceAll('_', '-')).baseName
  } catch {
    return undefined
  }
}

/** The language that a file is named after: `sv` of `texts/sv.json`. */
export function tagOfFile(place: string): string | undefined {
  const [, name] = /([^/\\]+)\.json(?:\?.*)?$/i.exec(place) ?? []
  return name === undefined ? undefined : canonical(name)
}
