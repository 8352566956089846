/** What is told of a change that somebody asked for. */
import type { Trx } from '../../../db/database.ts'
import type { SigningKeyRow } from '../../../db/signing-keys.ts'

/** What a change made of the keys. */
export interface KeyChange {
  /** Of the key that came or went. */
  kid: string
  before: SigningKeyRow[]
  after: SigningKeyRow[]
}

/** Writes a change down in the transaction that makes it; without one, nobody is told who made it. */
export type RecordKeyChange = ((trx: Trx, change: KeyChange) => Promise<void>) | undefined
