/** Organizations for tests, made over HTTP. */
import assert from 'node:assert/strict'

import { decodeJwt } from 'jose'

import type { AccessToken } from '../../../schemas/access-token.ts'
import type { Session } from '../../../schemas/session.ts'
import { asAdmin } from '../admin.ts'
import { call, refresh } from '../requests.ts'
import type { App } from '../server.ts'
import { autoconfirm, signUpUser } from '../users.ts'

export const organizationsOn = { ...autoconfirm, AUTH_ORGANIZATIONS_ENABLED: 'true' }

export interface Organization {
  id: string
  slug: string
  name: string
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** A request of a user; `name` is a method and a path. */
export function as(app: App, { access_token: token }: Session, name: string, payload?: object) {
  const [method = 'GET', url = ''] = name.split(' ')
  return call(app, url, payload, { method: method as Method, token })
}

/** The same, which must succeed. */
export async function ok<T = Record<string, unknown> | undefined>(
  app: App,
  session: Session,
  name: string,
  payload?: object,
): Promise<T> {
  const response = await as(app, session, name, payload)
  assert.ok(response.statusCode < 300, `${name}: ${response.statusCode} ${response.body}`)
  return parseBody<T>(response)
}

/** A request of an admin, which must succeed. */
export async function adminOk<T = unknown>(app: App, name: string, payload?: object): Promise<T> {
  const [method = 'GET', url = ''] = name.split(' ')
  const response = await asAdmin(app, method as Method, url, payload)
  assert.ok(response.statusCode < 300, `${name}: ${response.statusCode} ${response.body}`)
  return parseBody<T>(response)
}

function parseBody<T>(response: { body: string; json: () => T }): T {
  return response.body === '' ? (undefined as T) : response.json()
}

/** A new user with an organization of their own. */
export async function createOwner(app: App, name = 'Acme') {
  const owner = await signUpUser(app)
  const organization = await ok<Organization>(app, owner, 'POST /organizations', { name })
  return { owner, organization }
}

/** A new user who is a member with this role. */
export async function createMember(app: App, { id }: Pick<Organization, 'id'>, role = 'member') {
  const user = await signUpUser(app)
  const body = { user_id: user.user.id, role }
  await adminOk(app, `POST /admin/organizations/${id}/members`, body)
  return user
}

/** The claims of the next access token, for an organization or for the active one. */
export async function refreshedClaims(
  app: App,
  { refresh_token }: Pick<Session, 'refresh_token'>,
  organizationId?: string,
): Promise<{ claims: AccessToken; session: Session }> {
  const response = organizationId
    ? await call(app, '/token?grant_type=refresh_token', {
        refresh_token,
        organization_id: organizationId,
      })
    : await refresh(app, refresh_token)
  assert.equal(response.statusCode, 200, response.body)
  const session: Session = response.json()
  return { claims: decodeJwt<AccessToken>(session.access_token), session }
}
