/** Second factors, recovery codes and passkeys. */
import type { ColumnType, Generated, Selectable } from 'kysely'

export interface MfaFactorsTable {
  id: string
  user_id: string
  friendly_name: string | null
  factor_type: FactorType
  status: 'unverified' | 'verified'
  created_at: Date
  updated_at: Date
  /**
   * The base32 secret of a TOTP factor: encrypted and bound to the row's id, or plain in a database that GoTrue
   * created.
   */
  secret: string | null
  phone: string | null
  last_challenged_at: Date | null
  /** In GoTrue's format. */
  web_authn_credential: ColumnType<unknown, string | null | undefined, string | null>
  web_authn_aaguid: string | null
}

/** Factors that are enrolled and challenged. */
export type ChallengeableFactorType = 'totp' | 'phone' | 'webauthn'
/** A set of recovery codes is a factor too, with separate routes. */
export type FactorType = ChallengeableFactorType | 'recovery_code'

export interface MfaChallengesTable {
  id: string
  factor_id: string
  created_at: Date
  verified_at: Date | null
  ip_address: string
  /** The code of a phone factor, encrypted and bound to the row's id. */
  otp_code: string | null
  /** The challenge of a WebAuthn factor, in the format of GoTrue's library. */
  web_authn_session_data: ColumnType<unknown, string | null, never>
}

/** Details of factors for which GoTrue has no columns. */
export interface FactorDetailsTable {
  factor_id: string
  /** The only session that may verify the factor for the first time; null for one enrolled by GoTrue. */
  enrolled_in: string | null
  /** The last time step with an accepted TOTP code. */
  last_step: number | null
}

export interface FactorChallengesTable {
  challenge_id: string
  /** The only session that may respond; null after its end. */
  session_id: string | null
  /** The ceremony of a WebAuthn factor, and its challenge. */
  ceremony: 'create' | 'request' | null
  challenge: string | null
}

export interface MfaAmrClaimsTable {
  id: Generated<string>
  session_id: string
  created_at: Date
  updated_at: Date
  authentication_method: string
}

export interface RecoveryCodeSetsTable {
  id: string
  user_id: string
  mfa_factor_id: string
  failed_verification_count: Generated<number>
  verification_locked_until: Date | null
  created_at: ColumnType<Date, Date | undefined, never>
  updated_at: ColumnType<Date, Date | undefined, Date>
}

export interface RecoveryCodesTable {
  id: string
  mfa_recovery_code_set_id: string
  /** Argon2id, in PHC string format. */
  code_hash: string
  consumed_at: Date | null
  created_at: ColumnType<Date, Date | undefined, never>
}

export interface RecoveryCodeDigestsTable {
  code_id: string
  /** HMAC of the code under a key derived from an encryption key. */
  digest: string
  /** The id of that encryption key; null for an older code. */
  key_id: string | null
  /** Created before codes had a PHC string: only the digest verifies it. */
  is_early: Generated<boolean>
}

export const factorColumns = [
  'mfa_factors.id',
  'mfa_factors.created_at',
  'mfa_factors.updated_at',
  'mfa_factors.status',
  'mfa_factors.friendly_name',
  'mfa_factors.factor_type',
  'mfa_factors.phone',
  'mfa_factors.last_challenged_at',
  'mfa_factors.web_authn_aaguid',
] as const

type FactorRow = Omit<Selectable<MfaFactorsTable>, 'secret' | 'user_id' | 'web_authn_credential'>

/** A factor in a JSON aggregate: times are ISO 8601 strings. */
export type FactorJson = Omit<FactorRow, 'created_at' | 'updated_at' | 'last_challenged_at'> & {
  created_at: string
  updated_at: string
  last_challenged_at: string | null
}

export interface AmrClaim {
  method: string
  /** Seconds since the Unix epoch. */
  timestamp: number
}

/** The amr methods that step a session up to aal2. */
export const secondFactorMethods = [
  'totp',
  'mfa/phone',
  'mfa/webauthn',
  'mfa/recovery_code',
] as const

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
