/** Creating, changing and deleting organizations. */
import { randomBytes } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { isUniqueViolation } from '../../db/core/errors.ts'
import {
  deleteOrganizationRow,
  insertOrganization,
  lockOrganization,
  type OrganizationRow,
  type OrganizationUpdate,
  setDeletedAt,
  updateOrganization,
} from '../../db/organizations/organizations.ts'
import { lockUser } from '../../db/users/update-user.ts'
import {
  organizationNotFound,
  organizationSlugTaken,
  validationFailed,
} from '../../schemas/errors.ts'
import { ownerRole } from '../../schemas/organizations/permissions.ts'
import { changedFields } from '../audit/index.ts'
import { checkUserLimit } from './limits.ts'
import { addMember } from './members.ts'
import { type ChangedBy, recordChange } from './record.ts'
import { findRolePermissions } from './roles.ts'

interface OrganizationValues {
  name: string
  /** Derived from the name when absent. */
  slug?: string | undefined
  metadata?: Record<string, unknown> | undefined
}

/**
 * The first member is the owner; an admin may create an organization without one. Throws validation_failed,
 * organization_slug_taken and organization_limit_reached.
 */
export async function createOrganization(
  app: FastifyInstance,
  trx: Trx,
  { name, slug, metadata = {} }: OrganizationValues,
  ownerId: string | null,
  by: ChangedBy,
  now: Date,
): Promise<OrganizationRow> {
  checkOrganizationName(name, by)
  if (ownerId) {
    await lockUser(trx, ownerId)
    await checkUserLimit(app, trx, ownerId)
  }
  const id = crypto.randomUUID()
  const draft = { id, name, metadata, created_by: ownerId }
  const created = await insertWithSlug(trx, draft, slug, now)
  const { slug: stored } = created
  const traits = { organization_id: id, slug: stored, name, ...(ownerId && { user_id: ownerId }) }
  await recordChange(app, trx, 'organization_created', by, traits, now)
  if (!ownerId) return created
  const owner = { organization_id: id, user_id: ownerId, role: ownerRole, connection_id: null }
  await addMember(app, trx, { ...owner, joined_by: 'creation' }, by, now)
  return created
}

async function insertWithSlug(
  trx: Trx,
  draft: Omit<Parameters<typeof insertOrganization>[1], 'slug'>,
  slug: string | undefined,
  now: Date,
): Promise<OrganizationRow> {
  const requestedSlug = slug ?? toSlug(draft.name)
  const created =
    requestedSlug && (await insertOrganization(trx, { ...draft, slug: requestedSlug }, now))
  if (created) return created
  if (slug !== undefined) throw organizationSlugTaken()
  const unique = `${requestedSlug.slice(0, 50) || 'organization'}-${randomBytes(4).toString('hex')}`
  const retried = await insertOrganization(trx, { ...draft, slug: unique }, now)
  if (!retried) throw organizationSlugTaken()
  return retried
}

/** Throws validation_failed, organization_not_found, organization_slug_taken and organization_role_not_found. */
export async function changeOrganization(
  app: FastifyInstance,
  trx: Trx,
  id: string,
  change: OrganizationUpdate,
  by: ChangedBy,
  now: Date,
): Promise<OrganizationRow> {
  const before = await lockLiveOrganization(trx, id)
  if (change.name !== undefined && change.name !== before.name) {
    checkOrganizationName(change.name, by)
  }
  if (change.default_role !== undefined) await findRolePermissions(trx, id, change.default_role)
  let after: OrganizationRow
  try {
    after = await updateOrganization(trx, id, change, now)
  } catch (error) {
    throw isUniqueViolation(error) ? organizationSlugTaken() : error
  }
  const changes = changedFields(shown(before), shown(after))
  await recordChange(app, trx, 'organization_updated', by, { organization_id: id, ...changes }, now)
  return after
}

/** Members lose all rights; the rows are kept until an admin purges them. Throws organization_not_found. */
export async function deleteOrganization(
  app: FastifyInstance,
  trx: Trx,
  id: string,
  by: ChangedBy,
  now: Date,
): Promise<OrganizationRow> {
  const before = await lockLiveOrganization(trx, id)
  await setDeletedAt(trx, id, now, now)
  await recordChange(app, trx, 'organization_deleted', by, { organization_id: id }, now)
  return before
}

/** Throws organization_not_found. */
export async function restoreOrganization(
  app: FastifyInstance,
  trx: Trx,
  id: string,
  by: ChangedBy,
  now: Date,
): Promise<OrganizationRow> {
  const before = await lockOrganization(trx, id)
  if (!before?.deleted_at) throw organizationNotFound()
  await setDeletedAt(trx, id, null, now)
  await recordChange(app, trx, 'organization_restored', by, { organization_id: id }, now)
  return { ...before, deleted_at: null, updated_at: now }
}

/** Deletes the rows of a deleted organization; its slug is available again. Throws organization_not_found. */
export async function purgeOrganization(trx: Trx, id: string): Promise<OrganizationRow> {
  const before = await lockOrganization(trx, id)
  if (!before?.deleted_at) throw organizationNotFound()
  await deleteOrganizationRow(trx, id)
  return before
}

/** Throws organization_not_found. */
export async function lockLiveOrganization(trx: Trx, id: string): Promise<OrganizationRow> {
  const found = await lockOrganization(trx, id)
  if (!found || found.deleted_at) throw organizationNotFound()
  return found
}

function shown({ id, created_at, updated_at, deleted_at, created_by, ...fields }: OrganizationRow) {
  return fields
}

// Names of organizations in addresses and tokens.

const pattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Throws validation_failed. */
export function readSlug(slug: string): string {
  if (pattern.test(slug)) return slug
  throw validationFailed(
    'slug must have 1 to 63 lower-case letters, digits and hyphens, and no hyphen at its ends',
    422,
  )
}

/** A slug for a name; empty for a name without letters or digits of the Latin script. */
function toSlug(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '')
}

// Names that users choose for organizations. Emails to addresses without an account contain them.

/** Control characters, line breaks, and characters that hide or reorder text; joiners of scripts and emoji are none. */
const hidden = /[\p{Cc}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u200B\u202A-\u202E\u2060-\u2069\uFEFF]/u

const link = /:\/\/|\bwww\./i

/** A domain or an IPv4 address, which email programs turn into a link; joiners and the like do not prevent that. */
const domain = /[\p{L}\p{M}\p{N}_-][.\u3002](?:\p{L}[\p{L}\p{M}]|\d{1,3}\.\d{1,3}\.\d)/u

const ignorable = /[\p{Cf}\p{Variation_Selector}]/gu

/** An admin of the server may name a domain: emails show it without a link. Throws validation_failed. */
function checkOrganizationName(name: string, { member }: ChangedBy): void {
  if (name.trim() === '') throw validationFailed('name must not be blank', 422)
  if (hidden.test(name)) {
    throw validationFailed('name must not contain line breaks or invisible characters', 422)
  }
  if (link.test(name)) throw validationFailed('name must not contain a link', 422)
  if (member && domain.test(name.normalize('NFKC').replace(ignorable, ''))) {
    throw validationFailed('name must not contain a domain such as example.com', 422)
  }
}
