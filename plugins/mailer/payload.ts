/** What a queued message holds, in the one form in which it may lie in the database: encrypted for its row. */
import type { MailKind } from '../../mail/kinds.ts'
import type { MailVariables } from '../../mail/variables.ts'
import type { Encryption } from '../encryption.ts'

export interface MailPayload<Kind extends MailKind = MailKind> {
  to: string
  variables: MailVariables[Kind]
}

export function sealPayload(encryption: Encryption, id: string, payload: MailPayload): string {
  return encryption.encrypt(id, JSON.stringify(payload))
}

/** Throws DecryptionError when the key it was sealed with is not configured. */
export function openPayload(encryption: Encryption, id: string, sealed: string): MailPayload {
  return JSON.parse(encryption.decrypt(id, sealed, 'A queued mail'))
}
