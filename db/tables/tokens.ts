import type { Generated } from 'kysely'

import type { TokenType } from './users.ts'

export interface OneTimeTokensTable {
  id: string
  user_id: string
  token_type: TokenType
  token_hash: string
  relates_to: string
  created_at: Date
  updated_at: Date
}

/** Details of one-time tokens for which GoTrue has no columns. A token of GoTrue's gets a row at the first attempt. */
export interface TokenDetailsTable {
  token_id: string
  /** Null for a token of GoTrue's, whose lifetime starts when it was sent. */
  expires_at: Date | null
  failed_attempts: number
  /** Of a `recovery_token` that only signs in; null for a recovery, and for tokens of GoTrue. */
  purpose: TokenPurpose | null
  /** The admin who got the link instead of its recipient. */
  made_by: string | null
}

export type TokenPurpose = 'sign_in'

/** Dummy rows, written instead of a token that does not exist. */
export interface DummyTokensTable {
  slot: number
  failed_attempts: Generated<string>
}
