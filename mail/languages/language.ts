/** What a language is: the texts of en.json, in other words. Each sentence is a template (go-template/). */
import type { MailKind } from '../kinds.ts'
import en from './en.json' with { type: 'json' }

/** One sentence for each plural category of CLDR that the language has; `=0` and the like stand for one number. */
export interface Plural {
  /** The variable that is counted. */
  count: string
  other: string
  [category: string]: string
}

export type Paragraph = string | Plural

/** The same keys, with any texts. */
type Translated<T> = T extends string
  ? string
  : T extends readonly unknown[]
    ? Paragraph[]
    : { [Key in keyof T]: Translated<T[Key]> }

export type Language = Translated<typeof en>

/** What the built-in mail of a kind says. */
export interface Wording {
  subject: string
  heading: string
  paragraphs: Paragraph[]
  /** Only where there is a link: the words on its button. */
  button?: string
  /** What the code is for, where there is one. */
  code?: string
  /** What to do when the person did not ask for this. */
  caution: string
}

/** A language that is ready to be used. */
export interface Speech {
  /** BCP 47 */
  tag: string
  direction: 'ltr' | 'rtl'
  texts: Language
}

/** The language that every other one falls back to, key by key. */
export const english: Language = en

export function wordingOf({ texts }: Speech, kind: MailKind): Wording {
  return texts.mails[kind]
}

/** Languages written from right to left, by their own subtag. */
const rightToLeft = new Set([
  'ar',
  'arc',
  'ckb',
  'dv',
  'fa',
  'he',
  'ks',
  'ps',
  'sd',
  'ug',
  'ur',
  'yi',
])

export function directionOf(tag: string): Speech['direction'] {
  const { language, script } = new Intl.Locale(tag)
  if (script) {
    return ['Arab', 'Hebr', 'Thaa', 'Syrc', 'Nkoo', 'Adlm'].includes(script) ? 'rtl' : 'ltr'
  }
  return rightToLeft.has(language) ? 'rtl' : 'ltr'
}
