/** Keys that sign access tokens, shared by all replicas. */
export interface SigningKeysTable {
  kid: string
  alg: string
  state: 'standby' | 'current' | 'previous' | 'revoked'
  /** A private JWK (RFC 7517), encrypted. */
  private_jwk: string
  public_jwk: import('kysely').ColumnType<Record<string, unknown>, string, never>
  created_at: Date
  activates_at: Date | null
  retires_at: Date | null
  revoked_at: Date | null
}
