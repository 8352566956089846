/** Language tags (BCP 47), as users write them, and the choice of a language. */
import { match } from '@formatjs/intl-localematcher'
import Negotiator from 'negotiator'

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

/** As many as browsers send; the limit bounds the work per request. */
const maxTags = 10
/** The part of a header that is parsed, in characters. */
const maxHeaderLength = 300

/** Returns the available tag nearest to the preferred ones, in their order, or undefined when none is near. */
export function nearestLanguage(
  preferred: readonly string[],
  available: readonly string[],
): string | undefined {
  const tags = preferred.slice(0, maxTags).flatMap((tag) => canonical(tag) ?? [])
  if (tags.length === 0) return undefined
  const none = 'und'
  const nearest = match(tags, [...available], none)
  return nearest === none ? undefined : nearest
}

/** Returns the tags of an Accept-Language header (RFC 9110 §12.5.4), most preferred first. */
export function acceptedLanguages(header: string): string[] {
  const headers = { 'accept-language': header.slice(0, maxHeaderLength) }
  return new Negotiator({ headers }).languages().filter((tag) => tag !== '*')
}
