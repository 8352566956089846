/** All languages: custom messages over built-in ones, with English as the fallback. */
import { englishMessages, type MessageCatalog } from './custom-language.ts'
import { english, findDirection, type Language, type LocalizedMessages } from './language.ts'
import { shippedLanguages } from './shipped.ts'

export interface MissingMessages {
  tag: string
  /** As in `mails.invite.subject`. */
  places: string[]
}

/**
 * `own` returns the current custom messages of a language; undefined when there are none, or none could be loaded yet.
 */
export function createLibrary(own: (tag: string) => MessageCatalog | undefined) {
  const made = new Map<
    string,
    { from: (MessageCatalog | undefined)[]; messages: LocalizedMessages }
  >()

  return {
    /** Returns the language of a tag: its own messages, then those of the language without its region, then English. */
    get(tag: string): LocalizedMessages {
      const tags = fallbacks(tag)
      const from = tags.map(own)
      const known = made.get(tag)
      if (known?.from.every((texts, at) => texts === from[at])) return known.messages
      const layers = tags.flatMap((each, at) => [from[at], shippedLanguages.get(each)])
      const messages = { tag, direction: findDirection(tag), texts: merged(layers) }
      made.set(tag, { from, messages })
      return messages
    },

    /** The messages that a language lacks and that fall back to English. */
    missing(tag: string): MissingMessages {
      const tags = fallbacks(tag)
      if (tags.some((each) => shippedLanguages.has(each))) return { tag, places: [] }
      const has = (place: string) => tags.some((each) => own(each)?.has(place))
      return { tag, places: [...englishMessages.keys()].filter((place) => !has(place)) }
    },
  }
}

/** The tag with fewer and fewer subtags: `de-Latn-AT`, `de-Latn`, `de` (RFC 4647 §3.4). */
export function fallbacks(tag: string): string[] {
  const subtags = tag.split('-')
  return subtags.map((_, left) => subtags.slice(0, subtags.length - left).join('-'))
}

/** Each message comes from the first layer that has it. */
function merged(layers: readonly (MessageCatalog | Language | undefined)[]): Language {
  let texts = structuredClone(english)
  for (const layer of layers.toReversed()) {
    if (layer === undefined) continue
    if (isLanguage(layer)) texts = structuredClone(layer)
    else for (const [place, text] of layer) setText(texts, place.split('.'), text)
  }
  return texts
}

function isLanguage(layer: MessageCatalog | Language): layer is Language {
  return 'mails' in layer
}

function setText(into: object, [key = '', ...rest]: string[], text: unknown): void {
  const inner: unknown = Reflect.get(into, key)
  if (rest.length === 0) Reflect.set(into, key, text)
  else if (typeof inner === 'object' && inner !== null) setText(inner, rest, text)
}
