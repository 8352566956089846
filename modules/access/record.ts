/**
 * The effects of new access, in the transaction that gives it: a new sign-in method authorizes no change for a day, the
 * user is told at every confirmed and previous address, and the audit log names what was given and by whom.
 */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import type { IdentityRow } from '../../db/tables/identities.ts'
import type { SignInMethod } from '../../db/tables/sessions.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { type Actor, type AuditAction, recordAudit } from '../audit/index.ts'
import { notifyUser } from '../emails/index.ts'
import type { Notification } from '../emails/send.ts'
import { recordNewMethod } from './session-proofs.ts'

type IdentityKey = Pick<IdentityRow, 'id' | 'provider' | 'provider_id'>

/** What is given. `ip` is the client's address, for the audit entry; where it is absent, the caller has recorded one. */
type Grant =
  | { kind: 'identity'; identity: IdentityKey; ip: string }
  | { kind: 'passkey'; id: string; name: string; ip: string }
  | { kind: 'password'; ip?: string }
  | { kind: 'factor'; factorType: string }
  | {
      kind: 'recovery_codes'
      how: 'generated' | 'regenerated'
      factorId: string
      count: number
      ip: string
    }
  | { kind: 'phone'; phone: string }
  | { kind: 'email' }
  | { kind: 'username'; username: string; ip?: string }
  | ({ kind: 'oauth_consent'; ip: string } & ClientGrant)

interface ClientGrant {
  client: { id: string; name: string }
  scopes: string
  /** The client has all of these scopes already: recorded, and told to no one. */
  isRepeated: boolean
}

interface NewAccess {
  grant: Grant
  /** Whose account it opens, or who receives it, as before the change. */
  user: UserRecord
  /** The user after the change, where that adds the address which is told. */
  changed?: UserRecord
  /** Who gives it; the user, unless stated. */
  actor?: Actor
  /**
   * An older method of the account agreed to this one, or there was none: it may authorize changes at once, as the one
   * method of a new account may.
   */
  isEstablished?: boolean
}

interface Effects {
  method?: SignInMethod
  audit?: { action: AuditAction; ip: string; traits?: Record<string, unknown> }
  notifications: readonly Notification[]
}

/** The audit payload of an identity. */
export function identityTraits({ id, provider, provider_id }: IdentityKey) {
  return { identity_id: id, provider, provider_id }
}

/** Records new access. The caller writes it, after `authorizeAccess`, `requireFreshProof` or an equal check. */
export async function recordAccess(
  app: FastifyInstance,
  trx: Trx,
  { grant, user, changed = user, actor = user, isEstablished = false }: NewAccess,
  now: Date,
): Promise<void> {
  const effects = describe(grant, user)
  if (effects.method && !isEstablished) await recordNewMethod(trx, user, effects.method, now)
  if (effects.audit) {
    const { action, ip, traits } = effects.audit
    const about = actor.id === user.id ? {} : { user_id: user.id, user_email: user.email ?? '' }
    await recordAudit(app.audit, trx, action, actor, { ip, now, traits: { ...traits, ...about } })
  }
  for (const notification of effects.notifications) {
    await notifyUser(app, trx, changed, notification, now)
  }
}

function describe(grant: Grant, user: UserRecord): Effects {
  switch (grant.kind) {
    case 'identity':
      return {
        method: 'identity',
        ...entry('identity_linked', grant.ip, identityTraits(grant.identity)),
        notifications: [
          { kind: 'identity_linked_notification', Provider: grant.identity.provider },
        ],
      }
    case 'passkey':
      return {
        method: 'passkey',
        ...entry('passkey_created', grant.ip, { passkey_id: grant.id }),
        notifications: [{ kind: 'passkey_added_notification', PasskeyName: grant.name }],
      }
    case 'password':
      return {
        method: 'password',
        ...entry('user_updated_password', grant.ip),
        notifications: [{ kind: 'password_changed_notification' }],
      }
    case 'factor':
      return { method: 'factor', notifications: [enrolled(grant.factorType)] }
    // A recovery code authorizes no change at any age.
    case 'recovery_codes': {
      const { how, factorId: factor_id, count, ip } = grant
      const audit = { action: `recovery_codes_${how}`, ip, traits: { factor_id, count } } as const
      return { audit, notifications: [enrolled('recovery_code')] }
    }
    case 'phone':
      return { method: 'phone', notifications: describePhone(user, grant.phone) }
    // The change of an address notifies the previous one itself.
    case 'email':
      return { method: 'email', notifications: [] }
    case 'username':
      return {
        ...entry('user_modified', grant.ip, { username: grant.username }),
        notifications: [{ kind: 'username_changed_notification', Username: grant.username }],
      }
    case 'oauth_consent':
      return describeConsent(grant, grant.ip)
  }
}

/** No entry where the caller has recorded one. */
function entry(action: AuditAction, ip: string | undefined, traits?: Record<string, unknown>) {
  return ip === undefined ? {} : { audit: { action, ip, ...(traits && { traits }) } }
}

const enrolled = (FactorType: string) =>
  ({ kind: 'mfa_factor_enrolled_notification', FactorType }) as const

function describeConsent({ client, scopes, isRepeated }: ClientGrant, ip: string): Effects {
  const traits = { client_id: client.id, scopes }
  const connected = { ClientName: client.name, Scopes: scopes }
  return {
    audit: { action: 'oauth_consent_granted', ip, traits },
    notifications: isRepeated ? [] : [{ kind: 'app_connected_notification', ...connected }],
  }
}

function describePhone({ identities, phone: previous }: UserRecord, phone: string): Notification[] {
  const isLinked = identities.some(({ provider }) => provider === 'phone')
  return [
    ...(isLinked ? [] : [{ kind: 'identity_linked_notification', Provider: 'phone' } as const]),
    ...(previous
      ? [{ kind: 'phone_changed_notification', Phone: phone, OldPhone: previous } as const]
      : []),
  ]
}
