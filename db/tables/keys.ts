import type { ColumnType, Generated } from 'kysely'

/** One row: a known text, encrypted with the key that was current at the last start. */
export interface EncryptionProbeTable {
  id: string
  value: string
}

/** Signing keys of access tokens, shared by all replicas. */
export interface SigningKeysTable {
  kid: string
  alg: string
  state: SigningKeyState
  /** The encrypted private JWK (RFC 7517); empty after the key stops signing. */
  private_jwk: string
  public_jwk: ColumnType<Record<string, unknown>, string, never>
  created_at: Date
  activates_at: Date | null
  /** When the last token that it signed expires; a lower bound while the key signs. */
  retires_at: Date | null
  revoked_at: Date | null
}

/** Issued service tokens, and revoked tokens of any origin. */
export interface ApiTokensTable {
  jti: string
  /** The signing key; null for a token that was not issued here, as are the next three. */
  kid: Generated<string | null>
  role: Generated<string | null>
  sub: Generated<string | null>
  created_at: Date
  expires_at: Generated<Date | null>
  revoked_at: Date | null
}

type SigningKeyState = 'standby' | 'current' | 'previous' | 'revoked'
