/** The audit log: each action is stored in its transaction, logged as one line, counted, and emitted as events. */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'

import { insertAuditEntry, type NewAuditLogEntry } from '../../db/audit/audit-log-entries.ts'
import type { Db } from '../../db/core/database.ts'
import type { NewEvent } from '../../db/events/outbox.ts'
import type { MemberRow } from '../../db/organizations/members.ts'
import { nilUuid } from '../../db/tables/users.ts'
import {
  type OrganizationEventType,
  organizationEventKinds,
} from '../../schemas/organizations/events.ts'
import type { Acting } from '../../schemas/values/acting.ts'
import { type AuditAction, logTypes } from './actions.ts'

/** The fields of GoTrue that name the actor. `actor` and `act` of an entry are those of the request. */
export interface Actor {
  id: string
  email: string | null
  phone: string | null
  is_sso_user: boolean
  raw_user_meta_data?: Record<string, unknown> | null
}

export interface AuditSettings {
  /** False with AUTH_AUDIT_LOG_DISABLE_POSTGRES: the log line is the only record. */
  stored: boolean
  log: Pick<FastifyBaseLogger, 'info'>
  metrics: Pick<FastifyInstance['telemetry']['metrics'], 'count'>
  events: Pick<FastifyInstance['events'], 'describeActor' | 'draft'>
}

/** In characters. Users choose their name, which is part of each of their entries. */
const maxNameLength = 255

/** An admin token has no user; the role is the name of the actor. */
export function adminActor(role: string): Actor {
  return { id: nilUuid, email: role, phone: null, is_sso_user: false }
}

/** Logs and counts the action. Returns the entry for statements that insert it themselves. */
export function createAuditEntry(
  { stored, log, metrics, events }: AuditSettings,
  action: AuditAction,
  actor: Actor,
  ip: string,
  traits?: Record<string, unknown>,
): NewAuditLogEntry {
  const acting = events.describeActor(actor.id === nilUuid ? null : actor.id)
  log.info({ audit: { action, actor_id: actor.id, ip, ...acting } }, `audit: ${action}`)
  metrics.count('postern.audit_log_entries', { action })
  const drafts = createAuditEvents(events, action, { actorId: actor.id, acting }, traits)
  if (!stored) return { entry: undefined, events: drafts }
  const name = actor.raw_user_meta_data?.full_name
  const payload = {
    actor_id: actor.id,
    actor_via_sso: actor.is_sso_user,
    actor_username: actor.phone || actor.email || '',
    ...(typeof name === 'string' && { actor_name: shortened(name) }),
    action,
    log_type: logTypes[action],
    ...acting,
    ...(traits && { traits }),
  }
  return { entry: { ip_address: ip, payload }, events: drafts }
}

/** A cut may leave half of a surrogate pair, which Postgres cannot store. */
function shortened(name: string): string {
  if (name.length <= maxNameLength) return name
  return `${name.slice(0, maxNameLength - 1).toWellFormed()}…`
}

/** Client address and time of a request. */
export interface AuditContext {
  ip: string
  now: Date
}

/** Logs, counts and stores the action. */
export async function recordAudit(
  settings: AuditSettings,
  db: Db,
  action: AuditAction,
  actor: Actor,
  { ip, now, traits }: AuditContext & { traits?: Record<string, unknown> },
): Promise<void> {
  await insertAuditEntry(db, createAuditEntry(settings, action, actor, ip, traits), now)
}

// Events that follow from an audit entry alone. Events with more data (a new user, a new session, a confirmed
// identifier) are emitted where that happens.

type Traits = Record<string, unknown>

type Draft = FastifyInstance['events']['draft']

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
function createAuditEvents(
  events: { draft: Draft },
  action: AuditAction,
  { actorId, acting }: { actorId: string; acting: Acting },
  traits: Traits = {},
): NewEvent[] {
  const draft: Draft = (type, userId, facts) => events.draft(type, userId, facts, acting)
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

type MemberEventDraft = FastifyInstance['events']['draft']

/**
 * Each action of an organization has the event of its name, with the traits that the event type lists. `user_id` of the
 * traits is the user concerned, if there is one.
 */
function createOrganizationEvents(
  draft: MemberEventDraft,
  action: AuditAction,
  traits: Record<string, unknown>,
): NewEvent[] {
  const type = action.replace('_', '.')
  // A role of the server belongs to no organization.
  if (!isOrganizationEvent(type) || traits.organization_id === undefined) return []
  const names = Object.keys(organizationEventKinds[type].facts.properties)
  const facts = Object.fromEntries(names.map((name) => [name, String(traits[name])]))
  const userId = traits.user_id === undefined ? null : String(traits.user_id)
  return draft<OrganizationEventType>(type, userId, Object.assign({ organization_id: '' }, facts))
}

/** What entries and events about a member contain. */
export function memberTraits({ organization_id, user_id, role, status, joined_by }: MemberRow) {
  return { organization_id, user_id, role, status, joined_by }
}

function isOrganizationEvent(name: string): name is OrganizationEventType {
  return Object.hasOwn(organizationEventKinds, name)
}
