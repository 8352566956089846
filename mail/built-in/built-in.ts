/** The mails that are sent when the operator has none of their own. */
import { compileTemplate, type Template } from '../go-template/template.ts'
import type { MailKindFacts } from '../kind.ts'
import { type MailKind, mailKinds } from '../kinds.ts'
import { type Speech, wordingOf } from '../languages/language.ts'
import { htmlLayout, textLayout } from './layout.ts'

/** Source of a built-in mail; an operator may start from it. */
export function builtInSource(kind: MailKind, speech: Speech): { html: string; text: string } {
  const wording = wordingOf(speech, kind)
  const { button }: MailKindFacts = mailKinds[kind]
  return { html: htmlLayout(wording, speech, button), text: textLayout(wording, speech, button) }
}

export interface BuiltIn {
  subject: Template
  html: Template
  text: Template
}

const compiled = new WeakMap<Speech, Map<MailKind, BuiltIn>>()

/** Compiled at the first mail of its kind in its language: most servers never send most of them. */
export function builtIn(kind: MailKind, speech: Speech): BuiltIn {
  const inLanguage = compiled.get(speech) ?? new Map<MailKind, BuiltIn>()
  compiled.set(speech, inLanguage)
  const known = inLanguage.get(kind)
  if (known) return known
  const { html, text } = builtInSource(kind, speech)
  const template = {
    subject: compileTemplate(wordingOf(speech, kind).subject, 'text'),
    html: compileTemplate(html, 'html'),
    text: compileTemplate(text, 'text'),
  }
  inLanguage.set(kind, template)
  return template
}
