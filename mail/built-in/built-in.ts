/** The mails that are sent when the operator has none of their own. */
import { compileTemplate, type Template } from '../go-template/template.ts'
import { type MailKind, mailKindNames } from '../kinds.ts'
import { htmlLayout, textLayout } from './layout.ts'
import { wordings } from './wording.ts'

/** Source of a built-in mail; an operator may start from it. */
export function builtInSource(kind: MailKind): { html: string; text: string } {
  return { html: htmlLayout(wordings[kind]), text: textLayout(wordings[kind]) }
}

export type BuiltInTemplates = Record<MailKind, { html: Template; text: Template }>

export function compileBuiltIns(): BuiltInTemplates {
  const compiled = mailKindNames.map((kind) => {
    const { html, text } = builtInSource(kind)
    return [kind, { html: compileTemplate(html, 'html'), text: compileTemplate(text, 'text') }]
  })
  return Object.fromEntries(compiled)
}
