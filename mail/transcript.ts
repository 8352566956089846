/** The SMTP transcript line by line, without secrets, for operators. */
import { format } from 'node:util'

/** Receives a line: `C:` of the client, `S:` of the server, `*` of the connection. */
export type OnTranscriptLine = (line: string) => void

/** The sources of relevant lines; the pool logs internal ones too. */
const speakers = new Map([
  ['client', 'C:'],
  ['server', 'S:'],
  ['smtp', '*'],
  ['network', '*'],
])

/** nodemailer writes this in place of a secret, plain or inside base64. */
const placeholder = '/* secret */'

const hidden = '(not shown)'

/** A logger for nodemailer's `transactionLog` that removes secrets from every line. */
export function smtpTranscriptLogger(onLine: OnTranscriptLine, secrets: readonly string[]) {
  const forms = secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, Buffer.from(secret).toString('base64')])

  function logLine(entry: unknown, message?: unknown, ...args: unknown[]): void {
    const { tnx }: { tnx?: unknown } = Object(entry)
    const speaker = speakers.get(String(tnx))
    if (speaker === undefined) return
    for (const line of format(message, ...args).split(/\r?\n/)) {
      onLine(`${speaker} ${without(line)}`)
    }
  }

  function without(line: string): string {
    const sign = /^(AUTH \S+) \S/.exec(line)
    if (sign) return `${sign[1]} ${hidden}`
    if ([line, Buffer.from(line, 'base64').toString()].some((text) => text.includes(placeholder))) {
      return hidden
    }
    return forms.reduce((text, form) => text.replaceAll(form, hidden), line)
  }

  return {
    trace: logLine,
    debug: logLine,
    info: logLine,
    warn: logLine,
    error: logLine,
    fatal: logLine,
  }
}
