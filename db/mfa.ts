import type { Generated, Selectable } from 'kysely'

import type { Db } from './database.ts'

export interface MfaFactorsTable {
  id: string
  user_id: string
  friendly_name: string | null
  factor_type: 'totp' | 'phone' | 'webauthn'
  status: 'unverified' | 'verified'
  created_at: Date
  updated_at: Date
  secret: string | null
  phone: string | null
  last_challenged_at: Date | null
  web_authn_aaguid: string | null
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

type FactorRow = Omit<Selectable<MfaFactorsTable>, 'secret' | 'user_id'>

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

/** Records that the session was opened by this method; a method counts once per session. */
export async function putAmrClaim(db: Db, sessionId: string, method: string, now: Date) {
  await db
    .insertInto('mfa_amr_claims')
    .values({
      id: crypto.randomUUID(),
      session_id: sessionId,
      authentication_method: method,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .constraint('mfa_amr_claims_session_id_authentication_method_pkey')
        .doUpdateSet({ updated_at: now }),
    )
    .execute()
}
