/**
 * Provisioned groups. Each member is a row, so that a request changes only the members that it names, also in a large
 * group.
 */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import {
  addGroupMembers,
  deleteScimGroup,
  findScimGroup,
  insertScimGroup,
  listMemberIds,
  lockScimGroup,
  removeGroupMembers,
  type ScimGroupRow,
  updateScimGroup,
} from '../../db/scim/groups.ts'
import type { ResourceKey } from '../../db/scim/users.ts'
import type { StoredScimResource } from '../../db/tables/scim.ts'
import { scimRejected } from '../../schemas/errors.ts'
import { resourceDefinitions } from '../../schemas/scim/resources.ts'
import { recordChange } from '../organizations/index.ts'
import { rejectIfTaken } from './accounts.ts'
import { readMemberChanges, readMembers, type ScimMemberChange } from './members.ts'
import {
  applyRoles,
  lockMemberAccounts,
  type ProvisioningRequest,
  scimClientInfo,
} from './membership.ts'
import { applyOperations } from './patch/apply.ts'
import { type Operation, readOperations } from './patch/operations.ts'
import { checkVersion } from './response.ts'
import type { ResourceRequest } from './users.ts'

const definition = resourceDefinitions.Group

const displayTaken = 'Another group of this connection has this displayName'

/** Throws uniqueness, invalidValue for a member without a value, and last_owner. */
export async function createScimGroup(
  app: FastifyInstance,
  trx: Trx,
  request: ProvisioningRequest,
  { members, ...resource }: StoredScimResource,
): Promise<ResourceKey> {
  const key = { connectionId: request.connection.sso_provider_id, id: crypto.randomUUID() }
  const added: ScimMemberChange = { kind: 'add', ...readMembers(members) }
  await lockMemberAccounts(trx, added.ids, request)
  await rejectIfTaken(displayTaken, () => insertScimGroup(trx, key, resource, request.now))
  await applyRoles(app, trx, await applyMembers(app, trx, key, [added]), request)
  await recordGroup(app, trx, 'organization_group_created', { id: key.id, resource }, request)
  return key
}

/** Throws uniqueness, invalidValue and last_owner. */
export async function replaceScimGroup(
  app: FastifyInstance,
  trx: Trx,
  request: ProvisioningRequest,
  group: ResourceRequest,
  { members, ...resource }: StoredScimResource,
): Promise<void> {
  const change: ScimMemberChange = { kind: 'set', ...readMembers(members) }
  await changeGroup(app, trx, request, group, () => ({ resource, members: [change] }))
}

/** Throws uniqueness, last_owner and the errors of `readOperations`. */
export async function patchScimGroup(
  app: FastifyInstance,
  trx: Trx,
  request: ProvisioningRequest,
  group: ResourceRequest,
  body: unknown,
): Promise<void> {
  const isOfMembers = ({ target: { extension, name } }: Operation) =>
    !extension && name === 'members'
  await changeGroup(app, trx, request, group, (before) => {
    const operations = readOperations(definition, body, before)
    const others = operations.filter((operation) => !isOfMembers(operation))
    return {
      resource: applyOperations(definition, before, others),
      members: readMemberChanges(operations.filter(isOfMembers)),
    }
  })
}

interface GroupChange {
  resource: StoredScimResource
  members: readonly ScimMemberChange[]
}

async function changeGroup(
  app: FastifyInstance,
  trx: Trx,
  request: ProvisioningRequest,
  { id, ifMatch }: ResourceRequest,
  change: (resource: StoredScimResource) => GroupChange,
): Promise<void> {
  const key = { connectionId: request.connection.sso_provider_id, id }
  const before = await lockOrThrow(trx, key, ifMatch)
  const { resource, members } = change(before.resource)
  // Roles are mapped by the name.
  const isRenamed = resource.displayName !== before.resource.displayName
  const readsAll = isRenamed || members.some(({ kind }) => kind === 'set')
  const present = readsAll ? await listMemberIds(trx, id) : []
  const concerned = [...(isRenamed ? present : []), ...listConcerned(members, present)]
  await lockMemberAccounts(trx, concerned, request)
  await rejectIfTaken(displayTaken, () => updateScimGroup(trx, key, resource, request.now))
  const changed = await applyMembers(app, trx, key, members)
  const affected = isRenamed ? [...changed, ...(await listMemberIds(trx, id))] : changed
  await applyRoles(app, trx, affected, request)
  await recordGroup(app, trx, 'organization_group_updated', { id, resource }, request)
}

/** Throws last_owner. */
export async function removeScimGroup(
  app: FastifyInstance,
  trx: Trx,
  request: ProvisioningRequest,
  { id, ifMatch }: ResourceRequest,
): Promise<void> {
  const key = { connectionId: request.connection.sso_provider_id, id }
  const { resource } = await lockOrThrow(trx, key, ifMatch)
  const members = await listMemberIds(trx, id)
  await lockMemberAccounts(trx, members, request)
  await deleteScimGroup(trx, key)
  await applyRoles(app, trx, members, request)
  await recordGroup(app, trx, 'organization_group_deleted', { id, resource }, request)
}

/** Groups of a connection without an organization are recorded by the changes of their users only. */
async function recordGroup(
  app: FastifyInstance,
  trx: Trx,
  action: `organization_group_${'created' | 'updated' | 'deleted'}`,
  { id, resource }: { id: string; resource: StoredScimResource },
  request: ProvisioningRequest,
): Promise<void> {
  const { organization_id } = request.connection
  if (!organization_id || !app.config.AUTH_ORGANIZATIONS_ENABLED) return
  const traits = { organization_id, group_id: id, name: String(resource.displayName) }
  await recordChange(app, trx, action, scimClientInfo(request), traits, request.now)
}

async function lockOrThrow(
  trx: Trx,
  key: ResourceKey,
  ifMatch: string | undefined,
): Promise<ScimGroupRow> {
  const found = await lockScimGroup(trx, key)
  if (!found) throw noSuchGroup(key.id)
  checkVersion(found, ifMatch)
  return found
}

/** Throws 404, the same for a group of another connection. */
export async function requireScimGroup(
  db: Db,
  key: ResourceKey,
  options: { withMembers: boolean },
): Promise<ScimGroupRow> {
  const found = await findScimGroup(db, key, options)
  if (!found) throw noSuchGroup(key.id)
  return found
}

/** The users whose membership may change. */
function listConcerned(changes: readonly ScimMemberChange[], present: readonly string[]): string[] {
  const were = new Set(present)
  return changes.flatMap(({ kind, ids }) => {
    if (kind !== 'set') return ids
    const kept = new Set(ids)
    return [...present.filter((one) => !kept.has(one)), ...ids.filter((one) => !were.has(one))]
  })
}

/**
 * Returns the users whose membership may have changed. Users that the connection does not have are left out: clients
 * send groups whole, with members that they do not provision.
 */
async function applyMembers(
  app: FastifyInstance,
  trx: Trx,
  key: ResourceKey,
  changes: readonly ScimMemberChange[],
): Promise<string[]> {
  const affected = new Set<string>()
  const unknown = new Set<string>()
  for (const { kind, ids, others } of changes) {
    const kept = new Set(ids)
    const present = kind === 'set' ? await listMemberIds(trx, key.id) : []
    const gone = kind === 'remove' ? ids : present.filter((id) => !kept.has(id))
    if (gone.length > 0) await removeGroupMembers(trx, key.id, gone)
    if (kind === 'remove') kept.clear()
    const added = new Set(kept.size > 0 ? await addGroupMembers(trx, key, [...kept]) : [])
    for (const id of [...gone, ...added]) affected.add(id)
    const named = kind === 'remove' ? [] : [...kept, ...others]
    for (const id of named.filter((one) => !added.has(one))) unknown.add(id)
  }
  if (unknown.size > 0) logUnknown(app, key, [...unknown])
  return [...affected]
}

const maxLoggedMembers = 10

function logUnknown(
  { log }: FastifyInstance,
  { connectionId, id }: ResourceKey,
  unknown: readonly string[],
): void {
  const unknown_members = unknown.slice(0, maxLoggedMembers).map((one) => one.slice(0, 64))
  const fields = { connection_id: connectionId, group_id: id, unknown_count: unknown.length }
  log.warn({ ...fields, unknown_members }, 'SCIM group: unknown members were left out')
}

const noSuchGroup = (id: string) => scimRejected(404, undefined, `There is no group ${id}`)
