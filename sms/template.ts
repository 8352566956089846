/** The text of a message. */

const codeAction = /\{\{\s*\.Code\s*\}\}/g

/** Puts the code in the place of `{{ .Code }}`. All else stays as written: an SMS is not HTML. */
export function renderSms(template: string, code: string): string {
  return template.replace(codeAction, () => code)
}

/** False for a template that would send messages without a code. */
export function hasCode(template: string): boolean {
  return renderSms(template, '') !== template
}
