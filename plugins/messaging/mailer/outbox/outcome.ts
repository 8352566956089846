import { MailTransportError, type SendOutcome } from '../../../../mail/transport-error.ts'
import { quotedWords } from './reasons.ts'

/** The result of one attempt; the texts contain no address. */
export type AttemptOutcome =
  | { result: 'sent'; response: string }
  | { result: SendOutcome; reason: string }

export async function attemptDelivery<Ready>(
  deliver: (ready: Ready) => Promise<string>,
  mail: Ready,
): Promise<AttemptOutcome> {
  try {
    return { result: 'sent', response: quotedWords(await deliver(mail)) }
  } catch (error) {
    if (!(error instanceof MailTransportError)) {
      // An unknown error: the email may have been sent.
      return { result: 'ambiguous', reason: quotedWords(String(error)) }
    }
    const { outcome, message, response } = error
    const reason = response ? `${message}: ${response}` : message
    return { result: outcome, reason: quotedWords(reason) }
  }
}
