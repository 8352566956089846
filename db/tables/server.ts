/** The server itself: admins, keys, settings, counts, and the takeover from GoTrue. */
import type { ColumnType, Generated } from 'kysely'

/** Users who may call the admin API. */
export interface AdminsTable {
  user_id: string
  role: 'owner' | 'operator' | 'support'
  created_at: Date
  updated_at: Date
}

/** One-time links by which a user becomes an admin. */
export interface AdminLinksTable {
  /** Only the hash of the token is stored. */
  token_hash: string
  /** The email it is for; null for a link that creates the first admin. */
  email: string | null
  role: AdminsTable['role']
  /** The admin who made it; null for a command. Their global sign-out ends it. */
  created_by: string | null
  created_at: Date
  expires_at: Date
}

/** Accounts whose credentials or addresses an admin below owner decided, without a proof of a holder before. */
export interface PreparedAccountsTable {
  user_id: string
  created_at: Date
}

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

/** Settings that owners change while the server runs, by the names of their variables. */
export interface SettingsTable {
  name: string
  /** As in the environment; encrypted, and bound to the name. */
  value: string
  updated_at: Date
  /** Address or role of the admin. */
  updated_by: string | null
}

export interface SettingChangesTable {
  id: Generated<number>
  name: string
  /** Encrypted like the value; null where the default applied. */
  before: string | null
  after: string | null
  changed_at: Date
  changed_by: string | null
  /** The change that this one reverts. */
  reverts: number | null
}

/** Counts of events by the hour. */
export interface UsageCountsTable {
  hour: Date
  kind: 'sign_in' | 'limit' | 'hook'
  name: string
  outcome: string
  count: number
}

/** The last run of the cleanup by any replica. */
export interface CleanUpRunsTable {
  kind: string
  ended_at: Date
}

export interface TakeoverTable {
  only_row: boolean
  state: TakeoverState
  began_at: Date
  finished_at: Date | null
}

/** 'shared' while GoTrue may be used on this database again, 'own' otherwise. */
type TakeoverState = 'shared' | 'own'
