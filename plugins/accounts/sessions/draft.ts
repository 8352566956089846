/** A session that is about to be opened: what is stored of it, and what its client is answered. */
import type { TrailEntry } from '../../../db/audit-log-entries.ts'
import type { AmrClaim } from '../../../db/mfa.ts'
import type { NewSession, Opening } from '../../../db/session-parts.ts'
import type { Aal } from '../../../db/sessions.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { Client } from '../../client-ip.ts'
import type { House } from '../../define-plugin.ts'
import { encodeRefreshToken } from './refresh-token.ts'
import { deriveKey, sealKey } from './session-key.ts'
import type { SessionFacts } from './to-session.ts'

/** How a person proved who they are; the `amr` of the session. */
export type AuthenticationMethod =
  | 'password'
  | 'otp'
  | 'anonymous'
  | 'oauth'
  | 'recovery'
  | 'magiclink'
  | 'email/signup'
  | 'email_change'
  | 'invite'
  | 'passkey'
  | 'impersonation'

/** A password counts while the stored hash is the one that it was found to match. */
type Accepted =
  | { method: 'password'; passwordHash: string }
  | { method: Exclude<AuthenticationMethod, 'password'>; passwordHash?: undefined }

/** What was accepted, from which device, and for how long it counts. */
export type SignInProof = Accepted & {
  client: Client
  /** Written in the same statement. */
  audit?: TrailEntry | undefined
  /** Seconds after which the session ends whatever happens. */
  lifetimeSeconds?: number
  /** The admin for whom the session is opened, in place of the person. */
  impersonatedBy?: string
  /** What the proof amounts to; aal1 when absent. */
  aal?: Aal
}

export type DraftHouse = House<'bearerAuth' | 'encryption' | 'events' | 'otp'>

export interface Draft {
  opening: Opening
  facts: SessionFacts
}

export function draft(house: DraftHouse, person: UserRecord, proof: SignInProof, now: Date): Draft {
  const { method, impersonatedBy, passwordHash } = proof
  const id = crypto.randomUUID()
  const key = deriveKey(house, id)
  const sealed = { id, refresh_token_hmac_key: sealKey(house, id, key) }
  const session = { ...newSession(house, person, proof, now), ...sealed }
  const amr: AmrClaim[] = [{ method, timestamp: Math.floor(now.getTime() / 1000) }]
  const signedIn = { ...person, updated_at: now, ...(!impersonatedBy && { last_sign_in_at: now }) }
  const described = {
    session_id: id,
    session_created_at: now,
    aal: session.aal,
    amr,
    not_after: session.not_after,
    impersonated_by: impersonatedBy ?? null,
  }
  const refreshToken = encodeRefreshToken(id, 0, key)
  const facts = { person: signedIn, session: described, refreshToken, method, ip: proof.client.ip }
  const audit = trailOf(house, session, proof)
  const deviceHash = deviceOf(house, proof)
  return { opening: { session, method, impersonatedBy, passwordHash, audit, deviceHash }, facts }
}

/** The entry of how the person came in, and the event that they did; an admin in their place does not sign in. */
function trailOf(
  { events }: House<'events'>,
  { id: session_id, user_id, aal, ip, user_agent }: Omit<NewSession, 'refresh_token_hmac_key'>,
  { method, impersonatedBy, audit }: SignInProof,
): TrailEntry {
  const facts = { session_id, method, aal, ip, user_agent }
  const signedIn = impersonatedBy ? [] : events.draft('user.signed_in', user_id, facts)
  return { entry: audit?.entry, events: [...(audit?.events ?? []), ...signedIn] }
}

/** The device that is known from now on. */
function deviceOf({ otp }: House<'otp'>, proof: SignInProof): string | null {
  return isOwnDevice(proof) ? otp.deviceHash(proof.client) : null
}

/** Neither an admin in the person's place nor a guest, who has no password, comes by a device of somebody. */
export function isOwnDevice({ method, impersonatedBy }: SignInProof): boolean {
  return !impersonatedBy && method !== 'anonymous'
}

function newSession(
  { bearerAuth }: House<'bearerAuth'>,
  { id }: UserRecord,
  { client, lifetimeSeconds, aal = 'aal1' }: SignInProof,
  now: Date,
): Omit<NewSession, 'id' | 'refresh_token_hmac_key'> {
  return {
    user_id: id,
    aal,
    tag: bearerAuth.sessionPolicy.tagOf(client),
    user_agent: client.userAgent,
    ip: client.ip,
    not_after: lifetimeSeconds ? new Date(now.getTime() + lifetimeSeconds * 1000) : null,
  }
}
