/** The built-in email templates, used when the operator has no custom ones. */
import { compileTemplate, type Template } from '../go-template/template.ts'
import type { EmailKindDefinition } from '../kinds/definition.ts'
import { type EmailKind, emailKindDefinitions } from '../kinds/index.ts'
import { emailTexts, type LocalizedMessages } from '../languages/language.ts'
import { htmlLayout, textLayout } from './layout.ts'

/** Returns the template source of a built-in email; operators may start from it. */
export function builtInSource(
  kind: EmailKind,
  speech: LocalizedMessages,
): { html: string; text: string } {
  const wording = emailTexts(speech, kind)
  const { button }: EmailKindDefinition = emailKindDefinitions[kind]
  return { html: htmlLayout(wording, speech, button), text: textLayout(wording, speech, button) }
}

export interface BuiltIn {
  subject: Template
  html: Template
  text: Template
}

const compiled = new WeakMap<LocalizedMessages, Map<EmailKind, BuiltIn>>()

/** Compiled at the first use: most servers never send most types of email. */
export function builtIn(kind: EmailKind, speech: LocalizedMessages): BuiltIn {
  const inLanguage = compiled.get(speech) ?? new Map<EmailKind, BuiltIn>()
  compiled.set(speech, inLanguage)
  const known = inLanguage.get(kind)
  if (known) return known
  const { html, text } = builtInSource(kind, speech)
  const template = {
    subject: compileTemplate(emailTexts(speech, kind).subject, 'text'),
    html: compileTemplate(html, 'html'),
    text: compileTemplate(text, 'text'),
  }
  inLanguage.set(kind, template)
  return template
}
