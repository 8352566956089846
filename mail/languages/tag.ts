/** Language tags (BCP 47), as users write them. */

/** In characters; longer than any registered tag. */
const maxTagLength = 35

/** Normalizes a tag (BCP 47), `pt_BR` included. Returns undefined for an invalid one. */
export function canonical(tag: string): string | undefined {
  if (tag.length > maxTagLength) return undefined
  try {
    return new Intl.Locale(tag.replaceAll('_', '-')).baseName
  } catch {
    return undefined
  }
}

/** The language of a file name: `sv` of `texts/sv.json`. */
export function tagOfFile(place: string): string | undefined {
  const [, name] = /([^/\\]+)\.json(?:\?.*)?$/i.exec(place) ?? []
  return name === undefined ? undefined : canonical(name)
}
