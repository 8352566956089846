/** Requests of OAuth clients and of SCIM clients. */
import { basic, callbackUrl } from '../../support/oauth-server.ts'
import { deactivate, groupSchema, patchSchema, userSchema } from '../../support/scim/clients.ts'
import type { World } from '../world/index.ts'
import type { Requests } from './send.ts'

const search = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest'
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
const request = {
  redirect_uri: callbackUrl,
  response_type: 'code',
  scope: 'openid',
  code_challenge: 'x'.repeat(43),
  code_challenge_method: 'S256',
}

export function createOauthRequests(world: World): Requests {
  const { client, code, tokens, device, approvedDevice } = world
  const { client_id } = client
  const form = (fields: Record<string, string>) => ({
    token: null,
    form: fields,
    headers: basic(client),
  })
  return {
    'GET /oauth/authorize': [
      { token: null, query: { client_id, request_uri: world.requestUri } },
      { token: null, query: { client_id, ...request } },
    ],
    'POST /oauth/authorize': { token: null, form: { client_id, ...request } },
    'POST /oauth/par': form(request),
    'POST /oauth/device_authorization': form({ scope: 'openid' }),
    'POST /oauth/token': [
      form({
        grant_type: 'authorization_code',
        code: code.code,
        code_verifier: code.verifier,
        redirect_uri: callbackUrl,
      }),
      form({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token }),
      form({ grant_type: deviceGrant, device_code: device.device_code }),
      form({ grant_type: deviceGrant, device_code: approvedDevice }),
    ],
    'POST /oauth/revoke': form({ token: tokens.refresh_token }),
    'POST /oauth/introspect': [
      form({ token: tokens.refresh_token }),
      form({ token: tokens.access_token }),
    ],
    'POST /oauth/clients/register': { token: null, payload: { redirect_uris: [callbackUrl] } },
    'PUT /oauth/clients/register/:client_id': {
      payload: { redirect_uris: [callbackUrl], client_name: 'Q' },
    },
    'POST /oauth/authorizations/:authorization_id/consent': { payload: { action: 'approve' } },
    'POST /admin/oauth/clients': { payload: { client_name: 'N', redirect_uris: [callbackUrl] } },
    'PUT /admin/oauth/clients/:client_id': { payload: { client_name: 'N2' } },
  }
}

export function createScimRequests({ scim }: World): Requests {
  const path = '/scim/v2/:connection'
  const patch = (...Operations: object[]) => ({ payload: { schemas: [patchSchema], Operations } })
  const user = (fields: object) => ({ payload: { schemas: [userSchema], ...fields } })
  const searched = { payload: { schemas: [search] } }
  const members = [{ value: scim.user.id }]
  return {
    [`GET ${path}/Users`]: [
      {},
      { query: { filter: 'userName eq "carol"' } },
      { query: { filter: 'name.givenName co "a" and active eq true' } },
    ],
    [`POST ${path}/Users`]: user({ userName: 'dave', emails: [{ value: 'dave@corp.example' }] }),
    [`PUT ${path}/Users/:id`]: user({ userName: 'carol', name: { familyName: 'X' } }),
    [`PATCH ${path}/Users/:id`]: [
      patch(deactivate),
      patch({ op: 'replace', path: 'emails[type eq "work"].value', value: 'c2@corp.example' }),
    ],
    [`POST ${path}/Groups`]: {
      payload: { schemas: [groupSchema], displayName: 'G2', members },
    },
    [`PUT ${path}/Groups/:id`]: { payload: { schemas: [groupSchema], displayName: 'G3' } },
    [`PATCH ${path}/Groups/:id`]: patch({ op: 'add', path: 'members', value: members }),
    [`POST ${path}/Users/.search`]: searched,
    [`POST ${path}/Groups/.search`]: searched,
    [`POST ${path}/.search`]: searched,
  }
}
