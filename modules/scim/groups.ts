/**
 * Provisioned groups. Each member is a row, so that a request changes only the members that it names, also in a large
 * group.
 */
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
import { readMemberChanges, readMemberIds, type ScimMemberChange } from './members.ts'
import {
  applyRoles,
  lockMemberAccounts,
  type ProvisioningRequest,
  scimClientInfo,
} from './membership.ts'
import { applyOperations } from './patch/apply.ts'
import type { Operation } from './patch/operations.ts'
import type { ScimDeps } from './plugin.ts'
import type { ResourceRequest } from './users.ts'
import { invalidValue } from './values.ts'
import { checkVersion } from './version.ts'
import { rejectingTaken } from './written.ts'

const definition = resourceDefinitions.Group

/** Throws uniqueness, invalidValue and last_owner. */
export async function createScimGroup(
  deps: ScimDeps,
  trx: Trx,
  request: ProvisioningRequest,
  { members, ...resource }: StoredScimResource,
): Promise<ResourceKey> {
  const key = { connectionId: request.connection.sso_provider_id, id: crypto.randomUUID() }
  const ids = readMemberIds(members)
  await lockMemberAccounts(trx, ids, request)
  await rejectingTaken(() => insertScimGroup(trx, key, resource, request.now))
  await applyRoles(deps, trx, await applyMembers(trx, key, [{ kind: 'add', ids }]), request)
  await recordGroup(deps, trx, 'organization_group_created', { id: key.id, resource }, request)
  return key
}

/** Throws uniqueness, invalidValue and last_owner. */
export async function replaceScimGroup(
  deps: ScimDeps,
  trx: Trx,
  request: ProvisioningRequest,
  group: ResourceRequest,
  { members, ...resource }: StoredScimResource,
): Promise<void> {
  const change: ScimMemberChange = { kind: 'set', ids: readMemberIds(members) }
  await changeGroup(deps, trx, request, group, { make: () => resource, members: [change] })
}

/** Throws uniqueness, invalidValue, invalidFilter, noTarget and last_owner. */
export async function patchScimGroup(
  deps: ScimDeps,
  trx: Trx,
  request: ProvisioningRequest,
  group: ResourceRequest,
  operations: readonly Operation[],
): Promise<void> {
  const isOfMembers = ({ target }: Operation) => target.name === 'members'
  const others = operations.filter((operation) => !isOfMembers(operation))
  await changeGroup(deps, trx, request, group, {
    make: (resource) => applyOperations(definition, resource, others),
    members: readMemberChanges(operations.filter(isOfMembers)),
  })
}

interface GroupChange {
  make: (resource: StoredScimResource) => StoredScimResource
  members: readonly ScimMemberChange[]
}

async function changeGroup(
  deps: ScimDeps,
  trx: Trx,
  request: ProvisioningRequest,
  { id, ifMatch }: ResourceRequest,
  { make, members }: GroupChange,
): Promise<void> {
  const key = { connectionId: request.connection.sso_provider_id, id }
  const before = await lockOrThrow(trx, key, ifMatch)
  const resource = make(before.resource)
  // Roles are mapped by the name.
  const isRenamed = resource.displayName !== before.resource.displayName
  const readsAll = isRenamed || members.some(({ kind }) => kind === 'set')
  const present = readsAll ? await listMemberIds(trx, id) : []
  const concerned = [...(isRenamed ? present : []), ...listConcerned(members, present)]
  await lockMemberAccounts(trx, concerned, request)
  await rejectingTaken(() => updateScimGroup(trx, key, resource, request.now))
  const changed = await applyMembers(trx, key, members)
  const affected = isRenamed ? [...changed, ...(await listMemberIds(trx, id))] : changed
  await applyRoles(deps, trx, affected, request)
  await recordGroup(deps, trx, 'organization_group_updated', { id, resource }, request)
}

/** Throws last_owner. */
export async function removeScimGroup(
  deps: ScimDeps,
  trx: Trx,
  request: ProvisioningRequest,
  { id, ifMatch }: ResourceRequest,
): Promise<void> {
  const key = { connectionId: request.connection.sso_provider_id, id }
  const { resource } = await lockOrThrow(trx, key, ifMatch)
  const members = await listMemberIds(trx, id)
  await lockMemberAccounts(trx, members, request)
  await deleteScimGroup(trx, key)
  await applyRoles(deps, trx, members, request)
  await recordGroup(deps, trx, 'organization_group_deleted', { id, resource }, request)
}

/** Groups of a connection without an organization are recorded by the changes of their users only. */
async function recordGroup(
  deps: ScimDeps,
  trx: Trx,
  action: `organization_group_${'created' | 'updated' | 'deleted'}`,
  { id, resource }: { id: string; resource: StoredScimResource },
  request: ProvisioningRequest,
): Promise<void> {
  const { organization_id } = request.connection
  if (!organization_id || !deps.config.AUTH_ORGANIZATIONS_ENABLED) return
  const traits = { organization_id, group_id: id, name: String(resource.displayName) }
  await recordChange(deps, trx, action, scimClientInfo(request), traits, request.now)
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

/** Returns the users whose membership may have changed. Throws invalidValue for an unknown user. */
async function applyMembers(
  trx: Trx,
  key: ResourceKey,
  changes: readonly ScimMemberChange[],
): Promise<string[]> {
  const affected = new Set<string>()
  for (const { kind, ids } of changes) {
    const kept = new Set(ids)
    const present = kind === 'set' ? await listMemberIds(trx, key.id) : []
    const gone = kind === 'remove' ? ids : present.filter((id) => !kept.has(id))
    if (gone.length > 0) await removeGroupMembers(trx, key.id, gone)
    const added = kind === 'remove' ? [] : await addKnown(trx, key, ids)
    for (const id of [...gone, ...added]) affected.add(id)
  }
  return [...affected]
}

async function addKnown(trx: Trx, key: ResourceKey, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const known = new Set(await addGroupMembers(trx, key, ids))
  const unknown = ids.find((id) => !known.has(id))
  if (unknown) throw invalidValue(`There is no user ${unknown} to be a member`)
  return [...known]
}

const noSuchGroup = (id: string) => scimRejected(404, undefined, `There is no group ${id}`)
