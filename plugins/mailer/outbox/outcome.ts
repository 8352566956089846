import { MailTransportError, type SendOutcome } from '../../../mail/transport-error.ts'
import type { Deliver, Delivery } from '../deliver.ts'
import { withoutAddresses } from './reasons.ts'

/** What became of one attempt; the texts hold no address. */
export type Outcome = { result: 'sent'; response: string } | { result: SendOutcome; reason: string }

export async function outcomeOf(deliver: Deliver, mail: Delivery): Promise<Outcome> {
  try {
    return { result: 'sent', response: withoutAddresses(await deliver(mail)) }
  } catch (error) {
    if (!(error instanceof MailTransportError)) {
      // Nothing is known about it, so it may have gone out.
      return { result: 'ambiguous', reason: withoutAddresses(String(error)) }
    }
    const { outcome, message, response } = error
    const reason = response ? `${message}: ${response}` : message
    return { result: outcome, reason: withoutAddresses(reason) }
  }
}
