/** A server with SCIM, its connections, and the requests of their clients. */
import assert from 'node:assert/strict'

import { adminActor } from '../../../modules/audit/index.ts'
import { addMember, createOrganization } from '../../../modules/organizations/index.ts'
import type { ScimConnection } from '../../../schemas/scim/connection.ts'
import { asAdmin } from '../admin.ts'
import type { Ending } from '../processes/ending.ts'
import { sharedServers } from '../processes/shared-servers.ts'
import { type App, type BuildOptions, type Built, build } from '../server.ts'

export const scimOn = {
  AUTH_EXPERIMENTAL_SCIM_ENABLED: 'true',
  AUTH_ORGANIZATIONS_ENABLED: 'true',
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export interface ScimUser extends Record<string, unknown> {
  id: string
  userName: string
  active: boolean
  meta: { version: string; location: string; lastModified: string }
}

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const enterpriseSchema = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

/** Operations of a PATCH. */
export const deactivate = { op: 'replace', path: 'active', value: false }
export const activate = { op: 'replace', path: 'active', value: true }

const by = { actor: adminActor('test'), ip: '127.0.0.1' }

/** An organization with a verified domain. */
export async function newOrganization(app: App, domain: string): Promise<string> {
  const now = new Date()
  const { id } = await app.db
    .transaction()
    .execute((trx) => createOrganization(app, trx, { name: `Org of ${domain}` }, null, by, now))
  await addDomain(app, id, domain)
  return id
}

/** Gives an organization a verified domain. */
export async function addDomain(app: App, organization_id: string, domain: string): Promise<void> {
  const now = new Date()
  const times = { created_at: now, updated_at: now }
  await app.db
    .insertInto('postern_organization_domains')
    .values({
      id: crypto.randomUUID(),
      organization_id,
      domain,
      dns_token: 'x',
      ...times,
      verified_at: now,
      verified_by: 'dns',
      email: null,
      code_hash: null,
      code_expires_at: null,
    })
    .execute()
}

export async function addOwner(app: App, organization_id: string, user_id: string): Promise<void> {
  const member = {
    organization_id,
    user_id,
    role: 'owner',
    joined_by: 'admin',
    connection_id: null,
  } as const
  await app.db.transaction().execute((trx) => addMember(app, trx, member, by, new Date()))
}

export async function findMemberRole(app: App, organizationId: string, userId: string) {
  const row = await app.db
    .selectFrom('postern_organization_members')
    .select(['role', 'status', 'joined_by'])
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row && `${row.role} ${row.status} ${row.joined_by}`
}

/** A client with a token of the connection. */
export type ScimClient = Awaited<ReturnType<typeof newClient>>

export async function newClient(app: App, input: object) {
  const created = await asAdmin(app, 'POST', '/admin/scim/connections', { name: 'Test', ...input })
  assert.equal(created.statusCode, 201, created.body)
  const connection = created.json<ScimConnection>()
  const tokens = `/admin/scim/connections/${connection.id}/tokens`
  const issued = await asAdmin(app, 'POST', tokens, { name: 'first' })
  assert.equal(issued.statusCode, 201, issued.body)
  const { token } = issued.json<{ token: string }>()
  return clientWith(app, connection, token)
}

export function clientWith(app: App, connection: ScimConnection, token: string) {
  const send = (
    method: Method,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ) =>
    app.inject({
      method,
      url: `/scim/v2/${connection.id}${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/scim+json' }),
        ...headers,
      },
      ...(body && { payload: JSON.stringify(body) }),
    })
  /** The body of a request that must succeed. */
  async function request<Answer = ScimUser>(
    method: Method,
    path: string,
    body?: object,
  ): Promise<Answer> {
    const response = await send(method, path, body)
    assert.ok(
      response.statusCode < 300,
      `${method} ${path}: ${response.statusCode} ${response.body}`,
    )
    return response.json()
  }
  return {
    connection,
    token,
    send,
    request,
    create: (user: object) => request('POST', '/Users', { schemas: [userSchema], ...user }),
    createGroup: (displayName: string, ids: readonly string[] = []) =>
      request<ScimUser>('POST', '/Groups', {
        schemas: [groupSchema],
        displayName,
        members: ids.map((value) => ({ value })),
      }),
    patch: (path: string, ...Operations: object[]) =>
      send('PATCH', path, { schemas: [patchSchema], Operations }),
  }
}

/** The account of a provisioned user. */
export async function findScimAccount(app: App, scimUserId: string) {
  const row = await app.db
    .selectFrom('scim_users')
    .leftJoin('users', 'users.id', 'scim_users.user_id')
    .select(['scim_users.user_id', 'users.email', 'users.email_confirmed_at', 'users.is_sso_user'])
    .where('scim_users.id', '=', scimUserId)
    .executeTakeFirstOrThrow()
  return row
}

/** A client of a new organization with this domain. */
export async function addClient(app: App, domain: string): Promise<ScimClient> {
  return newClient(app, { organization_id: await newOrganization(app, domain) })
}

/** A server, an organization with the domain corp.test, and a client of it. */
export async function scimServer(
  t: Ending,
  options: BuildOptions = {},
): Promise<Built & ScimTenant> {
  const server = await build(t, { ...options, env: { ...scimOn, ...options.env } })
  return { ...server, ...(await addTenant(server.app)) }
}

/** Called in a suite: its tests share a server. Each starts without users, with a new organization and client. */
export function sharedScimServer() {
  const shared = sharedServers()
  return async (env: Record<string, string> = {}): Promise<Built & ScimTenant> => {
    const server = await shared({ ...scimOn, ...env })
    for (const table of ['users', 'sso_providers', 'postern_organizations']) {
      await server.app.pool.query(`delete from auth.${table}`)
    }
    return { ...server, ...(await addTenant(server.app)) }
  }
}

interface ScimTenant {
  organization: string
  client: ScimClient
}

async function addTenant(app: App): Promise<ScimTenant> {
  const organization = await newOrganization(app, 'corp.test')
  const client = await newClient(app, { organization_id: organization })
  return { organization, client }
}

/** Status, scimType and media type of an error. */
export function scimError(response: { statusCode: number; json: () => unknown; headers: object }) {
  const { scimType = '', schemas }: { scimType?: string; schemas?: string[] } = Object(
    response.json(),
  )
  assert.deepEqual(schemas, ['urn:ietf:params:scim:api:messages:2.0:Error'])
  return [response.statusCode, scimType]
}
