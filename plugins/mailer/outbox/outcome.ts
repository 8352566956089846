import { MailTransportError, type SendOutcome } from '../../../mail/transport-error.ts'
import { quotedWords } from './reasons.ts'

/** What became of one attempt; the texts hold no address. */
export type Outcome = { result: 'sent'; response: string } | { result: SendOutcome; reason: string }

export async function outcomeOf<Ready>(
  deliver: (ready: Ready) => Promise<string>,
  mail: Ready,
): Promise<Outcome> {
  try {
    return { result: 'sent', response: quotedWords(await deliver(mail)) }
  } catch (error) {
    if (!(error instanceof MailTransportError)) {
      // Nothing is known about it, so it may have gone out.
      return { result: 'ambiguous', reason: quotedWords(String(error)) }
    }
    const { outcome, message, response } = error
    const reason = response ? `${message}: ${response}` : message
    return { result: outcome, reason: quotedWords(reason) }
  }
}
