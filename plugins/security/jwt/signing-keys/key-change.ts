/** The audit details of a key change that a user requested. */
import type { Trx } from '../../../../db/core/database.ts'
import type { SigningKeyRow } from '../../../../db/keys/signing-keys.ts'

/** The effect of a change. */
interface KeyChange {
  /** The key that was added or removed. */
  kid: string
  before: SigningKeyRow[]
  after: SigningKeyRow[]
}

/** Records a change in its transaction; absent for changes without an actor. */
export type RecordKeyChange = ((trx: Trx, change: KeyChange) => Promise<void>) | undefined
