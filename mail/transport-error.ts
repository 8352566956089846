/** Why a mail was not sent, in the terms a queue decides by. */

/**
 * - temporary: it was certainly not accepted, and may be on another try (network, 4xx, a refused sign-in).
 * - permanent: the server refused this recipient or this message for good.
 * - ambiguous: the connection was lost after the text had begun to go out; it may have been accepted.
 *   Whoever promises at most one mail must not send it again.
 */
export type SendOutcome = 'temporary' | 'permanent' | 'ambiguous'

/** The message never holds an address, so it may be logged. */
export class MailTransportError extends Error {
  readonly outcome: SendOutcome
  /** The server's reply code, when it gave one (RFC 5321 section 4.2). */
  readonly responseCode: number | undefined
  // Servers often repeat the recipient in their replies, so it stays out of what loggers collect.
  readonly #response: string | undefined

  constructor(outcome: SendOutcome, message: string, reply?: { code: number; text: string }) {
    super(message)
    this.name = 'MailTransportError'
    this.outcome = outcome
    this.responseCode = reply?.code
    this.#response = reply?.text
  }

  /** The server's whole reply. May hold the recipient's address. */
  get response(): string | undefined {
    return this.#response
  }
}

/** The properties that nodemailer puts on its errors and that matter here. */
interface SmtpFailure {
  code?: string
  originalCode?: string
  timeoutType?: string
  command?: string
  responseCode?: number
  response?: string
}

/** `isTextSent`: the server had asked for the text and the first of it was handed to the socket. */
export function classify(
  error: unknown,
  { isTextSent }: { isTextSent: boolean },
): MailTransportError {
  const failure: SmtpFailure = typeof error === 'object' && error !== null ? error : {}
  const code = failure.responseCode
  if (code !== undefined && code >= 400 && code < 600) {
    const outcome = isFinal(failure, code) ? 'permanent' : 'temporary'
    const step = failure.command ?? 'the connection'
    return new MailTransportError(outcome, `the mail server answered ${code} to ${step}`, {
      code,
      text: failure.response ?? '',
    })
  }
  if (isTextSent) {
    return new MailTransportError(
      'ambiguous',
      `the connection was lost after the text was sent (${causeOf(failure)})`,
    )
  }
  // Refused before anything was said: no recipient, or larger than the server takes.
  if (failure.code === 'EENVELOPE' || failure.code === 'EMESSAGE') {
    return new MailTransportError('permanent', `the mail cannot be sent (${causeOf(failure)})`)
  }
  return new MailTransportError(
    'temporary',
    `the mail server was not reached (${causeOf(failure)})`,
  )
}

/**
 * A 5xx counts for the mail only where it is about the mail. To a greeting, a sign-in or a sender
 * it is about settings, and the mail goes out once they are right.
 */
function isFinal({ command }: SmtpFailure, code: number): boolean {
  if (code < 500 || code === 503 || code === 530) return false
  return command === 'RCPT TO' || command === 'DATA' || (command === 'MAIL FROM' && code === 552)
}

function causeOf({ originalCode, timeoutType, code }: SmtpFailure): string {
  return originalCode ?? timeoutType ?? code ?? 'unknown cause'
}
