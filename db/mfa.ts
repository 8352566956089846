import type { ColumnType, Generated, Selectable } from 'kysely'

export interface MfaFactorsTable {
  id: string
  user_id: string
  friendly_name: string | null
  factor_type: FactorType
  status: 'unverified' | 'verified'
  created_at: Date
  updated_at: Date
  /** Of a TOTP factor, in base32: encrypted by the row's id, or plain in a database taken over from GoTrue. */
  secret: string | null
  phone: string | null
  last_challenged_at: Date | null
  /** In the form that GoTrue stores. */
  web_authn_credential: ColumnType<unknown, string | null | undefined, string | null>
  web_authn_aaguid: string | null
}

export type FactorType = 'totp' | 'phone' | 'webauthn'

export interface MfaChallengesTable {
  id: string
  factor_id: string
  created_at: Date
  verified_at: Date | null
  ip_address: string
  /** Of a phone factor: encrypted by the row's id. */
  otp_code: string | null
  /** Of a WebAuthn factor, as GoTrue's library writes it. */
  web_authn_session_data: ColumnType<unknown, string | null, never>
}

/** What GoTrue's columns have no place for. */
export interface FactorDetailsTable {
  factor_id: string
  /** The session that alone may confirm the factor; null for one that GoTrue enrolled. */
  enrolled_in: string | null
  /** The last time step of which a TOTP code was accepted. */
  last_step: number | null
}

export interface FactorChallengesTable {
  challenge_id: string
  /** The session that alone may answer; null once it has ended. */
  session_id: string | null
  /** Of a WebAuthn factor: what was asked for, and the random value to be signed. */
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

/** As it comes out of a JSON aggregate: times are ISO 8601 strings. */
export type FactorJson = Omit<FactorRow, 'created_at' | 'updated_at' | 'last_challenged_at'> & {
  created_at: string
  updated_at: string
  last_challenged_at: string | null
}

export interface AmrClaim {
  method: string
  /** Seconds since the epoch. */
  timestamp: number
}

/** What raises a session to aal2, as its amr calls it. */
export const secondFactorMethods = ['totp', 'mfa/phone', 'mfa/webauthn', 'recovery_code'] as const
