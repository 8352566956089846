import type { ColumnType } from 'kysely'

export interface PasskeyChallengesTable {
  challenge_id: string
  /** Null after the session has ended. */
  session_id: string | null
}

export interface WebauthnChallengesTable {
  id: string
  /** Null for an authentication: the user is not known yet. */
  user_id: string | null
  challenge_type: 'registration' | 'authentication'
  /** JSON in the format of GoTrue's WebAuthn library. */
  session_data: ColumnType<unknown, string, never>
  created_at: Date
  expires_at: Date
}

export interface WebauthnCredentialsTable {
  id: string
  user_id: string
  credential_id: Buffer
  /** A COSE key (RFC 9052 §7). */
  public_key: Buffer
  attestation_type: string
  aaguid: string | null
  /** A bigint, which the driver may return as text. */
  sign_count: ColumnType<string | number, number, number>
  transports: ColumnType<string[], string, string>
  backup_eligible: boolean
  backed_up: boolean
  friendly_name: string
  created_at: Date
  updated_at: Date
  last_used_at: Date | null
}
