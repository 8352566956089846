/** All languages, the operator's put over those that come with the server; whatever one lacks is English. */
import { directionOf, english, type Language, type Speech } from './language.ts'
import { englishTexts, type Texts } from './own-language.ts'
import { shippedLanguages } from './shipped.ts'

export interface MissingTexts {
  tag: string
  /** As in `mails.invite.subject`. */
  places: string[]
}

/** `own` are the operator's texts of a language as they are now; undefined when it has none, or none could be had yet. */
export function createLibrary(own: (tag: string) => Texts | undefined) {
  const made = new Map<string, { from: (Texts | undefined)[]; speech: Speech }>()

  return {
    /** The language of a tag: its own texts, else those of the language without its region, else English. */
    get(tag: string): Speech {
      const tags = fallbacks(tag)
      const from = tags.map(own)
      const known = made.get(tag)
      if (known?.from.every((texts, at) => texts === from[at])) return known.speech
      const layers = tags.flatMap((each, at) => [from[at], shippedLanguages.get(each)])
      const speech = { tag, direction: directionOf(tag), texts: merged(layers) }
      made.set(tag, { from, speech })
      return speech
    },

    /** What a language lacks, so that English is used there. */
    missing(tag: string): MissingTexts {
      const tags = fallbacks(tag)
      if (tags.some((each) => shippedLanguages.has(each))) return { tag, places: [] }
      const has = (place: string) => tags.some((each) => own(each)?.has(place))
      return { tag, places: [...englishTexts.keys()].filter((place) => !has(place)) }
    },
  }
}

/** The tag itself, then with fewer and fewer subtags: `de-Latn-AT`, `de-Latn`, `de` (RFC 4647 section 3.4). */
export function fallbacks(tag: string): string[] {
  const subtags = tag.split('-')
  return subtags.map((_, left) => subtags.slice(0, subtags.length - left).join('-'))
}

/** The first layer that has a text gives it. */
function merged(layers: readonly (Texts | Language | undefined)[]): Language {
  let texts = structuredClone(english)
  for (const layer of layers.toReversed()) {
    if (layer === undefined) continue
    if (isLanguage(layer)) texts = structuredClone(layer)
    else for (const [place, text] of layer) put(texts, place.split('.'), text)
  }
  return texts
}

function isLanguage(layer: Texts | Language): layer is Language {
  return 'mails' in layer
}

function put(into: object, [key = '', ...rest]: string[], text: unknown): void {
  const inner: unknown = Reflect.get(into, key)
  if (rest.length === 0) Reflect.set(into, key, text)
  else if (typeof inner === 'object' && inner !== null) put(inner, rest, text)
}
