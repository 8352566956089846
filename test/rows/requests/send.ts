/** One request to a route, with ids of the world in its path. */
import type { App } from '../../support/server.ts'
import type { World } from '../world/index.ts'

/** What a request sends. */
export interface Sent {
  /** In place of the route with ids of the world. */
  url?: string
  query?: Record<string, string>
  /** In place of the token that the route's group takes; null for none. */
  token?: string | null
  payload?: object
  form?: Record<string, string>
  headers?: Record<string, string>
}

/** What to send to a route, by its method and path. Several requests are a list. */
export type Requests = Record<string, Sent | Sent[]>

export interface Answer {
  status: number
  body: string
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export async function send(
  world: World,
  method: Method,
  route: string,
  sent: Sent = {},
): Promise<Answer> {
  const { query, form, payload } = sent
  const path = sent.url ?? fillPath(world, route)
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const body = form ? new URLSearchParams(form).toString() : (payload ?? (hasBody ? {} : undefined))
  const response = await world.app.inject({
    method,
    url: query ? `${path}?${new URLSearchParams(query)}` : path,
    headers: {
      ...identify(world, route, sent.token),
      ...describeBody(route, form),
      ...sent.headers,
    },
    ...(body !== undefined && { payload: body }),
  })
  return { status: response.statusCode, body: response.body }
}

function describeBody(route: string, form: object | undefined): Record<string, string> {
  if (form) return { 'content-type': 'application/x-www-form-urlencoded' }
  return route.startsWith('/scim') ? { 'content-type': 'application/scim+json' } : {}
}

const pages = /^\/(sign-in|account|oauth\/(consent|device|logout)\b|console)/

/** A bearer token, or the cookie of a browser for a page. */
function identify(world: World, route: string, token: string | null | undefined) {
  if (pages.test(route)) return { cookie: world.cookie, accept: 'text/html' }
  const bearer = token === undefined ? getToken(world, route) : token
  return bearer ? { authorization: `Bearer ${bearer}` } : {}
}

function getToken({ scim, tokens, registered, session }: World, route: string): string {
  if (route.startsWith('/scim')) return scim.client.token
  if (route === '/oauth/userinfo') return tokens.access_token
  const ofClient = registered.registration_access_token
  return ofClient && route.includes('/clients/register/') ? ofClient : session.access_token
}

/** Throws for a parameter without an id in the world. */
function fillPath(world: World, route: string): string {
  const ids = getIds(world, route)
  return route
    .replace(/:(\w+)/g, (_, name: string) => {
      const id = ids[name]
      if (id === undefined) throw new Error(`the world has no ${name} for ${route}`)
      return encodeURIComponent(id)
    })
    .replace('*', 'users')
}

/** The id that has the name of its table only in part of the routes. */
function getId({ scim, ids }: World, route: string): string {
  if (route.includes('/Users')) return scim.user.id
  if (route.includes('/Groups')) return scim.group.id
  if (route.includes('/Schemas')) return 'urn:ietf:params:scim:schemas:core:2.0:User'
  if (route.includes('/ResourceTypes')) return 'User'
  if (route.includes('/mail')) return ids.mail
  return route.includes('/history') ? ids.change : ids.session
}

function getIds(world: World, route: string): Record<string, string> {
  const { organization, scim, ids, client, registered } = world
  return {
    id: getId(world, route),
    user_id: world.id,
    factor_id: world.totp.id,
    passkey_id: world.passkey.id,
    identity_id: world.identity,
    organization_id: organization.id,
    invitation_id: organization.invitation.id,
    role: route.includes('/organization-roles') ? 'auditor' : 'editor',
    domain_id: organization.domain.id,
    connection_id: route.includes('/scim/')
      ? scim.client.connection.id
      : organization.connection.id,
    connection: scim.client.connection.id,
    group_id: scim.group.id,
    client_id: route.includes('/register/') ? registered.client_id : client.client_id,
    webhook_id: ids.webhook,
    identifier: 'custom:acme',
    provider: world.idp.id,
    name: route.includes('/providers') ? 'custom:acme' : 'AUTH_MAILER_SUBJECTS_RECOVERY',
    authorization_id: world.authorization,
    token_id: ids.token,
  }
}

/** The methods and paths of the server's routes, without those that answer every method alike. */
export function listRoutes(app: App): { method: Method; route: string }[] {
  const isMethod = (method: string): method is Method =>
    ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method)
  return app.openapi.routes.flatMap(({ method, url: route }) =>
    typeof method === 'string' && isMethod(method) ? [{ method, route }] : [],
  )
}
