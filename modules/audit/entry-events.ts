/**
 * Events that follow from an audit entry alone. Events with more data (a new user, a new session, a confirmed
 * identifier) are emitted where that happens.
 */
import type { NewEvent } from '../../db/events/outbox.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { AuditAction } from './actions.ts'
import { createOrganizationEvents } from './organization-events.ts'

type Traits = Record<string, unknown>
type Draft = Deps<'events'>['events']['draft']
type CreateUserEvents = (draft: Draft, userId: string, traits: Traits) => NewEvent[]

const userEvents: Partial<Record<AuditAction, CreateUserEvents>> = {
  user_modified: (draft, id) => draft('user.updated', id, {}),
  user_invited: (draft, id) => draft('user.invited', id, {}),
  user_impersonated: (draft, id) => draft('user.impersonated', id, {}),
  user_updated_password: (draft, id) => draft('password.changed', id, {}),
  admin_added: (draft, id, { role }) => draft('admin.added', id, { role: String(role) }),
  admin_role_changed: (draft, id, { role }) => draft('admin.changed', id, { role: String(role) }),
  admin_removed: (draft, id) => draft('admin.removed', id, {}),
  logout: (draft, id, traits) =>
    // The sign-out of a single session has only the event of that session.
    traits.session_id === undefined ? draft('user.signed_out', id, {}) : [],
  token_revoked: (draft, id, traits) =>
    traits.oauth_client_id === undefined
      ? draft('refresh_token.reuse_detected', id, { session_id: String(traits.session_id) })
      : draft('oauth.consent_revoked', id, { client_id: String(traits.oauth_client_id) }),
  oauth_consent_granted: (draft, id, { client_id, scopes }) =>
    draft('oauth.consent_granted', id, { client_id: String(client_id), scopes: String(scopes) }),
  identity_linked: (draft, id, traits) => draft('identity.linked', id, identityIn(traits)),
  identity_unlinked: (draft, id, traits) => draft('identity.unlinked', id, identityIn(traits)),
  factor_unenrolled: (draft, id, traits) =>
    traits.factor_status === 'verified' ? draft('factor.unenrolled', id, factorIn(traits)) : [],
  factor_deleted: (draft, id, traits) => draft('factor.unenrolled', id, factorIn(traits)),
  passkey_created: (draft, id, traits) => draft('passkey.created', id, passkeyIn(traits)),
  passkey_deleted: (draft, id, traits) => draft('passkey.deleted', id, passkeyIn(traits)),
  recovery_codes_deleted: (draft, id, { factor_id }) =>
    factor_id === undefined
      ? []
      : draft('factor.unenrolled', id, factorIn({ factor_id, factor_type: 'recovery_code' })),
  recovery_codes_verified: (draft, id, { remaining }) =>
    draft('recovery_code.used', id, { remaining: Number(remaining) }),
}

/** They concern no user. */
const eventsOfKeys: Partial<Record<AuditAction, (draft: Draft, kid: string) => NewEvent[]>> = {
  signing_key_rotated: (draft, kid) => draft('signing_key.rotated', null, { kid }),
  signing_key_imported: (draft, kid) => draft('signing_key.imported', null, { kid }),
  signing_key_revoked: (draft, kid) => draft('signing_key.revoked', null, { kid }),
}

/** These concern a provider, not a user. */
const eventsOfProviders: Partial<
  Record<AuditAction, 'provider.created' | 'provider.updated' | 'provider.deleted'>
> = {
  custom_provider_created: 'provider.created',
  custom_provider_updated: 'provider.updated',
  custom_provider_deleted: 'provider.deleted',
  sso_provider_created: 'provider.created',
  sso_provider_updated: 'provider.updated',
  sso_provider_deleted: 'provider.deleted',
}

type CreateClientEvents = (draft: Draft, clientId: string) => NewEvent[]

const eventsOfClients: Partial<Record<AuditAction, CreateClientEvents>> = {
  oauth_client_created: (draft, client_id) => draft('oauth.client_created', null, { client_id }),
  oauth_client_registered: (draft, client_id) => draft('oauth.client_created', null, { client_id }),
  oauth_client_updated: (draft, client_id) => draft('oauth.client_updated', null, { client_id }),
  oauth_client_secret_regenerated: (draft, client_id) =>
    draft('oauth.client_updated', null, { client_id }),
  oauth_client_deleted: (draft, client_id) => draft('oauth.client_deleted', null, { client_id }),
}

/** Returns the events of an entry. For an action of an admin, the payload names the affected user. */
export function createAuditEvents(
  { draft }: { draft: Draft },
  action: AuditAction,
  actorId: string,
  traits: Traits = {},
): NewEvent[] {
  const { user_id = actorId, kid, client_id } = traits
  const ofProvider = eventsOfProviders[action]
  if (ofProvider) return draft(ofProvider, null, { provider: String(traits.provider) })
  const ofUser = userEvents[action]?.(draft, String(user_id), traits)
  const ofKey = eventsOfKeys[action]?.(draft, String(kid))
  const ofClient = eventsOfClients[action]?.(draft, String(client_id))
  return ofUser ?? ofKey ?? ofClient ?? createOrganizationEvents(draft, action, traits)
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
