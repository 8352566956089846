/** Renders the text of an SMS. */

const codeAction = /\{\{\s*\.Code\s*\}\}/g

/** Replaces `{{ .Code }}` with the code. Nothing is escaped, as an SMS is not HTML. */
export function renderSms(template: string, code: string): string {
  return template.replace(codeAction, () => code)
}

/** False for a template without the code. */
export function hasCode(template: string): boolean {
  return renderSms(template, '') !== template
}
