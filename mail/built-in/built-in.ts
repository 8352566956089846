/** The built-in email templates, used when the operator has no custom ones. */
import { compileTemplate, type Template } from '../go-template/template.ts'
import type { EmailKindDefinition } from '../kinds/definition.ts'
import { type EmailKind, emailKindDefinitions } from '../kinds/index.ts'
import { emailTexts, type LocalizedMessages } from '../languages/language.ts'
import { htmlLayout, textLayout } from './layout.ts'

/** Returns the template source of a built-in email; operators may start from it. */
export function builtInSource(
  kind: EmailKind,
  messages: LocalizedMessages,
): { html: string; text: string } {
  const texts = emailTexts(messages, kind)
  const { button }: EmailKindDefinition = emailKindDefinitions[kind]
  return { html: htmlLayout(texts, messages, button), text: textLayout(texts, messages, button) }
}

interface BuiltIn {
  subject: Template
  html: Template
  text: Template
}

const compiled = new WeakMap<LocalizedMessages, Map<EmailKind, BuiltIn>>()

/** Compiled at the first use: most servers send few types of email. */
export function builtIn(kind: EmailKind, messages: LocalizedMessages): BuiltIn {
  const inLanguage = compiled.get(messages) ?? new Map<EmailKind, BuiltIn>()
  compiled.set(messages, inLanguage)
  const known = inLanguage.get(kind)
  if (known) return known
  const { html, text } = builtInSource(kind, messages)
  const template = {
    subject: compileTemplate(emailTexts(messages, kind).subject, 'text'),
    html: compileTemplate(html, 'html'),
    text: compileTemplate(text, 'text'),
  }
  inLanguage.set(kind, template)
  return template
}
