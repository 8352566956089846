/** What is said between us and the mail server, line by line, for an operator who looks on. Without secrets. */
import { format } from 'node:util'

/** Hears one line: `C:` of ours, `S:` of the server's, `*` of what happens to the connection. */
export type Hear = (line: string) => void

/** Whose lines are of interest; the pool talks to itself. */
const speakers = new Map([
  ['client', 'C:'],
  ['server', 'S:'],
  ['smtp', '*'],
  ['network', '*'],
])

/** nodemailer writes this in the place of a secret, as it is or somewhere in base64. */
const placeholder = '/* secret */'

const hidden = '(not shown)'

/** A logger for nodemailer with `transactionLog`; the secrets are hidden wherever else they might turn up. */
export function conversationLogger(hear: Hear, secrets: readonly string[]) {
  const forms = secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, Buffer.from(secret).toString('base64')])

  function tell(entry: unknown, message?: unknown, ...args: unknown[]): void {
    const { tnx }: { tnx?: unknown } = Object(entry)
    const speaker = speakers.get(String(tnx))
    if (speaker === undefined) return
    for (const line of format(message, ...args).split(/\r?\n/)) hear(`${speaker} ${without(line)}`)
  }

  function without(line: string): string {
    const sign = /^(AUTH \S+) \S/.exec(line)
    if (sign) return `${sign[1]} ${hidden}`
    if ([line, Buffer.from(line, 'base64').toString()].some((text) => text.includes(placeholder))) {
      return hidden
    }
    return forms.reduce((text, form) => text.replaceAll(form, hidden), line)
  }

  return { trace: tell, debug: tell, info: tell, warn: tell, error: tell, fatal: tell }
}
