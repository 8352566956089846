/** Classifies failed deliveries for the queue. */

/**
 * - temporary: not accepted, may succeed later (network, 4xx, failed authentication).
 * - permanent: the server rejected this recipient or message.
 * - ambiguous: the connection was lost after the message had begun to be sent; it may have been accepted. It must not
 *   be sent again where at most one delivery is promised.
 */
export type SendOutcome = 'temporary' | 'permanent' | 'ambiguous'

/** Its message never contains an address, so that it may be logged. */
export class MailTransportError extends Error {
  readonly outcome: SendOutcome
  /** The SMTP reply code, if there was one (RFC 5321 §4.2). */
  readonly responseCode: number | undefined
  // Private, so that loggers do not serialize it: servers often repeat the recipient in replies.
  readonly #response: string | undefined

  constructor(outcome: SendOutcome, message: string, reply?: { code: number; text: string }) {
    super(message)
    this.name = 'MailTransportError'
    this.outcome = outcome
    this.responseCode = reply?.code
    this.#response = reply?.text
  }

  /** The server's whole reply. May contain the recipient's address. */
  get response(): string | undefined {
    return this.#response
  }
}

/** The relevant properties of nodemailer's errors. */
interface SmtpFailure {
  code?: string
  originalCode?: string
  timeoutType?: string
  command?: string
  responseCode?: number
  response?: string
}

/** `isTextSent`: the server had requested the message data and the first of it was written to the socket. */
export function classify(
  error: unknown,
  { isTextSent }: { isTextSent: boolean },
): MailTransportError {
  const failure: SmtpFailure = typeof error === 'object' && error !== null ? error : {}
  const code = failure.responseCode
  if (code !== undefined && code >= 400 && code < 600) {
    const outcome = isFinal(failure, code) ? 'permanent' : 'temporary'
    const step = failure.command ?? 'the connection'
    return new MailTransportError(outcome, `the mail server returned ${code} to ${step}`, {
      code,
      text: failure.response ?? '',
    })
  }
  if (isTextSent) {
    return new MailTransportError(
      'ambiguous',
      `the connection was lost after the text was sent (${getCause(failure)})`,
    )
  }
  // Rejected before a connection was used: no recipient, or a message above the server's size limit.
  if (failure.code === 'EENVELOPE' || failure.code === 'EMESSAGE') {
    return new MailTransportError('permanent', `the email cannot be sent (${getCause(failure)})`)
  }
  return new MailTransportError(
    'temporary',
    `the mail server was not reached (${getCause(failure)})`,
  )
}

/**
 * A 5xx reply is permanent only when it concerns the message. In reply to a greeting, an authentication or a sender it
 * concerns the configuration, and the email is sent after that is corrected.
 */
function isFinal({ command }: SmtpFailure, code: number): boolean {
  if (code < 500 || code === 503 || code === 530) return false
  return command === 'RCPT TO' || command === 'DATA' || (command === 'MAIL FROM' && code === 552)
}

function getCause({ originalCode, timeoutType, code }: SmtpFailure): string {
  return originalCode ?? timeoutType ?? code ?? 'unknown cause'
}
