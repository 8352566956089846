/** Joining by a verified domain, or as a user whom a SCIM client provisioned. Invitations are in invitations.ts. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import { findJoinableByDomain } from '../../db/organizations/domains.ts'
import { findOrganization, type OrganizationRow } from '../../db/organizations/organizations.ts'
import { listScimOffers } from '../../db/scim/access.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { JoinHookInput } from '../../plugins/outgoing/hooks/calls.ts'
import {
  ApiError,
  organizationDomainShared,
  organizationJoinDisabled,
  organizationNotFound,
} from '../../schemas/errors.ts'
import { findProvenAddress } from '../access/index.ts'
import type { AuditContext } from '../audit/index.ts'
import { addMember } from './members.ts'
import type { ChangedBy } from './record.ts'

/** Calls the operator's hook, never inside a transaction. Throws HookError when it rejects. */
export async function permitJoin(
  { hooks }: FastifyInstance,
  question: JoinHookInput,
  ip: string,
): Promise<void> {
  await hooks.beforeOrganizationJoin?.(question, ip)
}

interface Suggestion {
  organization: OrganizationRow
  role: string
  joinedBy: 'domain' | 'scim'
}

/** The organization that the user may join by the domain of their address. */
async function findJoinable(
  { config, db }: FastifyInstance,
  user: UserRecord,
): Promise<OrganizationRow | undefined> {
  const email = await findProvenAddress(db, user)
  if (email === undefined) return undefined
  const domain = email.slice(email.lastIndexOf('@') + 1)
  const joinable = await findJoinableByDomain(db, domain, user.id)
  // One that was added before such domains were refused.
  return joinable && (await isSharedDomain(domain, config)) ? undefined : joinable
}

/**
 * The organizations that the user may join: by the domain of their confirmed address, and those whose SCIM clients
 * provisioned the address without its domain. The latter ask, because anyone can provision an address.
 */
export async function listSuggestions(
  app: FastifyInstance,
  user: UserRecord,
): Promise<Suggestion[]> {
  if ((await findProvenAddress(app.db, user)) === undefined) return []
  const offers = app.config.AUTH_EXPERIMENTAL_SCIM_ENABLED
    ? await listScimOffers(app.db, user.id)
    : []
  const ofDomain = await findJoinable(app, user)
  const suggestions: Suggestion[] = offers.map(({ role, ...organization }) => ({
    organization,
    role,
    joinedBy: 'scim',
  }))
  if (!ofDomain || offers.some(({ id }) => id === ofDomain.id)) return suggestions
  const { default_role: role } = ofDomain
  return [{ organization: ofDomain, role, joinedBy: 'domain' }, ...suggestions]
}

/** Throws organization_join_disabled and HookError. */
export async function permitSuggestedJoin(
  app: FastifyInstance,
  user: UserRecord,
  organizationId: string,
  ip: string,
): Promise<void> {
  const { organization, role, joinedBy } = await getSuggestion(app, user, organizationId)
  await permitJoin(app, joinHookPayload(organization, user, role, joinedBy), ip)
}

/** Checks the suggestion again. Throws organization_join_disabled and organization_limit_reached. */
export async function joinSuggested(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  organizationId: string,
  by: ChangedBy,
  now: Date,
): Promise<OrganizationRow> {
  const suggestion = await getSuggestion(app, user, organizationId)
  const { organization, role, joinedBy: joined_by } = suggestion
  const member = { organization_id: organization.id, user_id: user.id, role }
  await addMember(app, trx, { ...member, joined_by, connection_id: null }, by, now)
  return organization
}

async function getSuggestion(
  app: FastifyInstance,
  user: UserRecord,
  organizationId: string,
): Promise<Suggestion> {
  const suggestions = await listSuggestions(app, user)
  const found = suggestions.find(({ organization }) => organization.id === organizationId)
  if (!found) throw organizationJoinDisabled('domain')
  return found
}

/** Throws organization_not_found. */
export async function findLiveOrganization(db: Db, id: string): Promise<OrganizationRow> {
  const found = await findOrganization(db, id)
  if (!found || found.deleted_at) throw organizationNotFound()
  return found
}

export function joinHookPayload(
  { id, slug, name }: Pick<OrganizationRow, 'id' | 'slug' | 'name'>,
  user: JoinHookInput['user'],
  role: string,
  joinedBy: string,
): JoinHookInput {
  const about = { id: user.id, email: user.email }
  return { organization: { id, slug, name }, user: about, role, joined_by: joinedBy }
}

/**
 * Joins the organization whose verified domain joins automatically. Does nothing when a limit or the hook prevents it.
 */
export async function joinAutomatically(
  app: FastifyInstance,
  user: UserRecord,
  { ip, now }: AuditContext,
): Promise<void> {
  const found = await findJoinable(app, user)
  if (found?.domain_join !== 'automatic') return
  try {
    await permitJoin(app, joinHookPayload(found, user, found.default_role, 'domain'), ip)
    await app.db
      .transaction()
      .execute((trx) => joinSuggested(app, trx, user, found.id, { actor: user, ip }, now))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
}

/** In the list, and the names of examples (RFC 2606 §3). */
const examples = new Set(['example.com', 'example.net', 'example.org'])

let providers: Promise<ReadonlySet<string>> | undefined

function loadProviders(): Promise<ReadonlySet<string>> {
  providers ??= import('email-providers/all.json', { with: { type: 'json' } }).then(
    ({ default: domains }) => new Set(domains.filter((domain) => !examples.has(domain))),
  )
  return providers
}

/**
 * Whether the addresses of the domain belong to unrelated users: public suffixes such as co.uk and github.io, and mail
 * providers. An organization with such a domain would be offered the users of all others. Both lists are packages, loaded
 * when first needed. `allowed` are the operator's exceptions from the list of mail providers.
 */
async function isSharedDomain(
  domain: string,
  { AUTH_ORGANIZATIONS_ALLOWED_DOMAINS: allowed }: FastifyInstance['config'],
): Promise<boolean> {
  const { parse } = await import('tldts')
  const { domain: registrable } = parse(domain, { allowPrivateDomains: true })
  // A public suffix has no registrable domain.
  if (!registrable) return true
  if (allowed.includes(domain)) return false
  const known = await loadProviders()
  return known.has(domain) || known.has(registrable)
}

/** Throws organization_domain_shared. */
export async function checkNotShared({ config }: FastifyInstance, domain: string): Promise<void> {
  if (await isSharedDomain(domain, config)) throw organizationDomainShared(domain)
}
