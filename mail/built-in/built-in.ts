/** The mails that are sent when the operator has none of their own. */
import { compileTemplate, type Template } from '../go-template/template.ts'
import { type MailKind, mailKinds } from '../kinds.ts'
import { htmlLayout, textLayout } from './layout.ts'

/** Source of a built-in mail; an operator may start from it. */
export function builtInSource(kind: MailKind): { html: string; text: string } {
  const { wording } = mailKinds[kind]
  return { html: htmlLayout(wording), text: textLayout(wording) }
}

export interface BuiltIn {
  html: Template
  text: Template
}

const compiled = new Map<MailKind, BuiltIn>()

/** Compiled at the first mail of its kind: most servers never send most kinds. */
export function builtIn(kind: MailKind): BuiltIn {
  const known = compiled.get(kind)
  if (known) return known
  const { html, text } = builtInSource(kind)
  const template = { html: compileTemplate(html, 'html'), text: compileTemplate(text, 'text') }
  compiled.set(kind, template)
  return template
}
