/** A language: the keys of en.json. Each message is a template (go-template/). */
import type { EmailKind } from '../kinds/index.ts'
import en from './en.json' with { type: 'json' }

/** One message for each CLDR plural category of the language; `=0` and the like match one number. */
interface Plural {
  /** The counted variable. */
  count: string
  other: string
  [category: string]: string
}

export type Paragraph = string | Plural

/** The same keys with other texts. */
type Translated<T> = T extends string
  ? string
  : T extends readonly unknown[]
    ? Paragraph[]
    : { [Key in keyof T]: Translated<T[Key]> }

export type Language = Translated<typeof en>

/** The texts of a built-in email. */
export interface EmailTexts {
  subject: string
  heading: string
  paragraphs: Paragraph[]
  /** The label of the button, in emails with a link. */
  button?: string
  /** The label of the code, in emails with a code. */
  code?: string
  /** What to do if the user did not request the email. */
  caution: string
}

/** A language with its formatting rules. */
export interface LocalizedMessages {
  /** BCP 47 */
  tag: string
  direction: 'ltr' | 'rtl'
  texts: Language
}

/** The fallback of every other language, key by key. */
export const english: Language = en

export function emailTexts({ texts }: LocalizedMessages, kind: EmailKind): EmailTexts {
  return texts.mails[kind]
}

/** Right-to-left languages, by subtag. */
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

export function findDirection(tag: string): LocalizedMessages['direction'] {
  const { language, script } = new Intl.Locale(tag)
  if (script) {
    return ['Arab', 'Hebr', 'Thaa', 'Syrc', 'Nkoo', 'Adlm'].includes(script) ? 'rtl' : 'ltr'
  }
  return rightToLeft.has(language) ? 'rtl' : 'ltr'
}
