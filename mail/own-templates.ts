/** The templates of an operator: one for a kind, and one more for each language that needs its own. */
import { compileTemplate, type Template } from './go-template/template.ts'
import { type MailKind, mailKinds } from './kinds.ts'
import { fallbacks } from './languages/library.ts'
import { createKeptCopy, type KeepOptions, type KeptCopy } from './own-texts/kept-copy.ts'
import { type Places, sourceOf } from './own-texts/source.ts'

/** A setting of the operator for a kind of mail; without a tag it is for all languages. */
export interface OwnSetting {
  kind: MailKind
  tag?: string | undefined
  value: string
}

export interface OwnTemplateOptions extends KeepOptions, Places {
  /** Blank ones count as absent. */
  templates: readonly OwnSetting[]
}

export function createOwnTemplates({ templates, ...options }: OwnTemplateOptions) {
  const copies = new Map<string, KeptCopy<Template>>()
  for (const { kind, tag, value } of templates) {
    const setting = value.trim()
    if (setting === '') continue
    const copy = {
      source: () => sourceOf(setting, options),
      parse: (text: string) => compileTemplate(text, 'html'),
      instead: 'the built-in text',
      names: { kind, setting: settingName('TEMPLATES', kind, tag) },
    }
    copies.set(keyOf(kind, tag), createKeptCopy(copy, options))
  }

  return {
    /** The operator's template for a language, or undefined when there is none or none could be had yet. */
    async get(kind: MailKind, tag: string): Promise<Template | undefined> {
      const copy = forLanguage(kind, tag, (key) => copies.get(key))
      return copy?.get()
    },

    /** What was wrong with the operator's template when it was last read. */
    problem: (kind: MailKind, tag: string): string | undefined =>
      forLanguage(kind, tag, (key) => copies.get(key))?.problem(),

    /** Reads the templates that have expired, so that the next mails find them. */
    async renew(): Promise<void> {
      await Promise.all([...copies.values()].map((copy) => copy.renew()))
    },

    /** Every template is read again: files may have changed. */
    async reload(): Promise<void> {
      for (const copy of copies.values()) copy.expire()
      await Promise.all([...copies.values()].map((copy) => copy.renew()))
    },
  }
}

/** What the operator has for the language, for the language without its region, or for all of them. */
export function forLanguage<T>(
  kind: MailKind,
  tag: string,
  find: (key: string) => T | undefined,
): T | undefined {
  for (const each of [...fallbacks(tag), undefined]) {
    const found = find(keyOf(kind, each))
    if (found !== undefined) return found
  }
  return undefined
}

export function keyOf(kind: MailKind, tag: string | undefined): string {
  return tag === undefined ? kind : `${kind} ${tag}`
}

/** The variable that a setting comes from. */
export function settingName(
  what: 'TEMPLATES' | 'SUBJECTS',
  kind: MailKind,
  tag: string | undefined,
): string {
  const suffix = tag === undefined ? '' : `_${tag.replaceAll('-', '_').toUpperCase()}`
  return `AUTH_MAILER_${what}_${mailKinds[kind].envSuffix}${suffix}`
}
