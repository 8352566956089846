/**
 * Which entries of the trail are events as well: those that say all there is to tell. What a door knows better (a new
 * person, a new session, an address that became proven) is told there.
 */
import type { NewEvent } from '../../../db/event-inbox.ts'
import type { House } from '../../define-plugin.ts'
import type { AuditAction } from './entry.ts'

type Traits = Record<string, unknown>
type Draft = House<'events'>['events']['draft']
type DraftOf = (draft: Draft, userId: string, traits: Traits) => NewEvent[]

const eventsOfPeople: Partial<Record<AuditAction, DraftOf>> = {
  user_modified: (draft, id) => draft('user.updated', id, {}),
  user_invited: (draft, id) => draft('user.invited', id, {}),
  user_impersonated: (draft, id) => draft('user.impersonated', id, {}),
  user_updated_password: (draft, id) => draft('password.changed', id, {}),
  logout: (draft, id, traits) =>
    // One device of several is no sign-out of the person: the session has an event of its own.
    traits.session_id === undefined ? draft('user.signed_out', id, {}) : [],
  token_revoked: (draft, id, { session_id }) =>
    draft('reuse.detected', id, { session_id: String(session_id) }),
  identity_linked: (draft, id, traits) => draft('identity.linked', id, identityIn(traits)),
  identity_unlinked: (draft, id, traits) => draft('identity.unlinked', id, identityIn(traits)),
  factor_unenrolled: (draft, id, traits) =>
    traits.factor_status === 'verified' ? draft('factor.unenrolled', id, factorIn(traits)) : [],
  factor_deleted: (draft, id, traits) => draft('factor.unenrolled', id, factorIn(traits)),
  passkey_created: (draft, id, traits) => draft('passkey.created', id, passkeyIn(traits)),
  passkey_deleted: (draft, id, traits) => draft('passkey.deleted', id, passkeyIn(traits)),
  recovery_code_used: (draft, id, { remaining }) =>
    draft('recovery_code.used', id, { remaining: Number(remaining) }),
}

/** They are about nobody. */
const eventsOfKeys: Partial<Record<AuditAction, (draft: Draft, kid: string) => NewEvent[]>> = {
  signing_key_rotated: (draft, kid) => draft('key.rotated', null, { kid }),
  signing_key_imported: (draft, kid) => draft('key.imported', null, { kid }),
  signing_key_revoked: (draft, kid) => draft('key.revoked', null, { kid }),
}

/** The events of an entry. Where an admin acts, the traits name the person it is about. */
export function eventsOf(
  { draft }: { draft: Draft },
  action: AuditAction,
  actorId: string,
  traits: Traits = {},
): NewEvent[] {
  const { user_id = actorId, kid } = traits
  const ofPerson = eventsOfPeople[action]?.(draft, String(user_id), traits)
  return ofPerson ?? eventsOfKeys[action]?.(draft, String(kid)) ?? []
}

function identityIn({ identity_id, provider, provider_id }: Traits) {
  return {
    identity_id: String(identity_id),
    provider: String(provider),
    provider_id: String(provider_id),
  }
}

function factorIn({ factor_id, factor_type }: Traits) {
  return { factor_id: String(factor_id), factor_type: String(factor_type) }
}

const passkeyIn = ({ passkey_id }: Traits) => ({ passkey_id: String(passkey_id) })
