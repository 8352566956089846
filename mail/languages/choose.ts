/** Which language somebody is written to in. */
import { match } from '@formatjs/intl-localematcher'
import Negotiator from 'negotiator'

import { canonical } from './tag.ts'

/** As many as browsers send; whoever sends more does not get to keep the matcher busy. */
const mostTags = 10
/** Characters of a header that are read. */
const longestHeader = 300

/** The available tag nearest to what is wanted, the most wanted first; undefined when none is near. */
export function nearestLanguage(
  wanted: readonly string[],
  available: readonly string[],
): string | undefined {
  const tags = wanted.slice(0, mostTags).flatMap((tag) => canonical(tag) ?? [])
  if (tags.length === 0) return undefined
  const none = 'und'
  const nearest = match(tags, [...available], none)
  return nearest === none ? undefined : nearest
}

/** The tags of an Accept-Language header (RFC 9110 section 12.5.4), the most wanted first. */
export function acceptedLanguages(header: string): string[] {
  const headers = { 'accept-language': header.slice(0, longestHeader) }
  return new Negotiator({ headers }).languages().filter((tag) => tag !== '*')
}
